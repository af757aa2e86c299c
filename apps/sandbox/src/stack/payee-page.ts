/**
 * The payee's page of a deployment: built from its sources into a folder that the platform serves, with the settings of the chain and the
 * files of its circuit beside it.
 *
 * @module
 */
import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createArtifactStore } from '@pool/circuits';
import { type ChainsFile, parseHex, Secret } from '@pool/core';
import { openSession } from '../chain/people.ts';
import type { Stack } from './stack.ts';

const app = fileURLToPath(new URL('../../../payee', import.meta.url));
const circuit = 'spend-2x4';

export type PayeePage = {
  /** Waits for the build. @returns the folder */
  place(chains: ChainsFile): Promise<string>;
  /** Makes the proving key if this machine has none. Without it the page makes no payments. */
  placeKeys(): Promise<void>;
};

/** The build begins at once. @param folder - is emptied */
export function createPayeePage(folder: string): PayeePage {
  const building = buildPage(folder);
  // Awaited when it is placed. Until then a failure must not end the process.
  building.catch(() => undefined);
  return {
    async place(chains) {
      await building;
      await writeFile(join(folder, 'chains.json'), JSON.stringify(chains));
      return folder;
    },
    async placeKeys() {
      // The build empties the folder.
      await building;
      const { wasm, zkey, verificationKey } = await createArtifactStore({
        keyForm: 'compact',
      }).ensureArtifacts(circuit);
      const circuits = join(folder, 'circuits', circuit);
      await mkdir(circuits, { recursive: true });
      await copyFile(String(wasm), join(circuits, 'circuit.wasm'));
      await copyFile(String(zkey), join(circuits, 'proving-key.pzky'));
      await writeFile(join(circuits, 'verification-key.json'), JSON.stringify(verificationKey));
    },
  };
}

/** @returns the address with which one new person opens the page, once */
export async function createInvitation(stack: Stack): Promise<string> {
  const session = await openSession(new Secret(parseHex(stack.employer.privateKey, 32)), stack);
  const { links } = await session.createInvitationLinks([`sandbox-${Date.now()}`]);
  return `${stack.payeePageUrl}#invite=${links[0]?.code.reveal()}`;
}

/** In a process of its own: the bundler changes NODE_ENV. */
async function buildPage(folder: string): Promise<void> {
  const bundler = join(
    dirname(createRequire(import.meta.url).resolve('vite/package.json')),
    'bin/vite.js',
  );
  const args = [bundler, 'build', '--outDir', folder, '--emptyOutDir', '--logLevel', 'error'];
  await promisify(execFile)(process.execPath, args, { cwd: app });
}
