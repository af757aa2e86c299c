// The prover in a Next.js app, from the packed tarballs in an empty project, by npm alone: `next build` and `next start`, a page that proves
// in Chromium with the script of examples/prove-in-browser, and a route that proves on the server.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { hasBrowser } from '@pool/testkit/browser';
import { createSmallCircuit, endSnarkjsThreads } from '../../packages/prover/test/small-circuit.ts';
import { run } from '../src/processes.ts';
import { isProved, proveAt } from './packed-page.ts';

const script = resolve(import.meta.dirname, '../../examples/prove-in-browser/main.js');
const packages = ['next@16.4.6', 'react@19.3.1', 'react-dom@19.3.1'];

const files: Readonly<Record<string, string>> = {
  'package.json': '{ "private": true, "type": "module" }',
  'next.config.mjs': `
    const headers = [
      { key: 'Cross-Origin-Opener-Policy', value: 'same-origin' },
      { key: 'Cross-Origin-Embedder-Policy', value: 'require-corp' },
    ];
    export default {
      serverExternalPackages: ['@pool/prover', '@pool/kernels'],
      headers: () => Promise.resolve([{ source: '/:path*', headers }]),
    };`,
  'app/layout.js': `
    export const metadata = { icons: 'data:,' };
    export default function Layout({ children }) {
      return <html lang="en"><body>{children}</body></html>;
    }`,
  'app/page.js': `
    'use client';
    import { useEffect } from 'react';
    export default function Page() {
      useEffect(() => {
        import('../main.js').then(() => document.querySelector('button').removeAttribute('disabled'));
      }, []);
      return <>
        <form>
          <input type="file" name="wasm" /><input type="file" name="zkey" /><input type="file" name="input" />
          <button type="submit" disabled>Prove</button><progress />
        </form>
        <pre />
      </>;
    }`,
  'app/prove/route.js': `
    import { groth16 } from '@pool/prover/snarkjs';
    export async function POST(request) {
      return Response.json(await groth16.fullProve(await request.json(), process.env.WASM, process.env.ZKEY));
    }`,
};

/** @returns the errors, none if every check passed */
export async function checkPackedNext(tarballs: readonly string[]): Promise<string[]> {
  if (!hasBrowser) return ['Chromium is missing: install it (apt-get install chromium)'];
  const project = mkdtempSync(join(tmpdir(), 'pool-next-'));
  const circuit = await createSmallCircuit();
  const environment = { NEXT_TELEMETRY_DISABLED: '1', WASM: circuit.wasm, ZKEY: circuit.zkey };
  const next = join(project, 'node_modules/next/dist/bin/next');
  const execute = async (command: string, ...args: readonly string[]) => {
    const options = { cwd: project, env: environment, output: 'collect' } as const;
    const { status, combined } = await run(command, args, options);
    if (status !== 0) throw new Error(`${command} ${args[0]} failed:\n${combined}`);
  };
  try {
    mkdirSync(join(project, 'app/prove'), { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
    cpSync(script, join(project, 'main.js'));
    await execute('npm', 'install', '--no-audit', '--no-fund', ...tarballs, ...packages);
    await execute(process.execPath, next, 'build');

    const server = spawn(process.execPath, [next, 'start', '--port', '0'], {
      cwd: project,
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(server, 'exit');
    try {
      const origin = await new Promise<string>((resolve, reject) => {
        let told = '';
        server.stdout.setEncoding('utf8').on('data', (text: string) => {
          told += text;
          const url = /http:\/\/localhost:[1-9]\d*(?=\s.*Ready)/s.exec(told)?.[0];
          if (url !== undefined) resolve(url);
        });
        setTimeout(() => {
          reject(new Error(`next start is not ready after a minute:\n${told}`));
        }, 60_000).unref();
        void ended.then(() => {
          reject(new Error(`next start ended:\n${told}`));
        });
      });
      const body = '{ "product": 391, "a": 17, "b": 23 }';
      const answer = await (await fetch(`${origin}/prove`, { method: 'POST', body })).text();
      const shown = await proveAt(origin, circuit);
      return [
        ...(answer.includes('"publicSignals":["391"]') ? [] : [`the route answers:\n${answer}`]),
        ...(isProved(shown) ? [] : [`the page shows:\n${shown}`]),
      ];
    } finally {
      server.kill();
      await ended;
    }
  } catch (error) {
    return [error instanceof Error ? error.message : 'failed'];
  } finally {
    await endSnarkjsThreads();
    rmSync(circuit.folder, { recursive: true });
    rmSync(project, { recursive: true });
  }
}
