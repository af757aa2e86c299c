/** The files of deploy/ name variables, commands, ports, routes and files that exist, and take every right away that the services do not need. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { allVariables } from '../../apps/agent/src/config/variables.ts';
import { parseGateConfig, parsePlatformConfig } from '../../apps/platform/src/config.ts';
import { variables as approveVariables } from '../../packages/approve/src/config/variables.ts';
import { listNames } from '../../packages/configuration/src/report.ts';
import { services as packed } from '../deployment/artefacts.ts';
import { readManifest } from './workspace.ts';

const root = resolve(import.meta.dirname, '../..');
const folder = join(root, 'deploy');
function read(...path: readonly string[]): string {
  return readFileSync(join(folder, ...path), 'utf8');
}

interface Service {
  readonly image: string;
  readonly build?: { readonly args: Readonly<Record<string, string>>; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}
const composed = ['compose.yaml', 'approve.yaml'].map(
  (name) => parse(read('compose', name), { merge: true }) as Compose,
);
const ours = composed.flatMap(({ services }) =>
  Object.entries(services).filter(([, { build }]) => build !== undefined),
);

/** Names that a parser of an environment asks for, whatever it makes of them. */
function listAsked(parser: (env: NodeJS.ProcessEnv) => unknown): ReadonlySet<string> {
  const asked = new Set<string>();
  // A gate, and an address that others reach, are further questions.
  const answers: Readonly<Record<string, string>> = {
    ...{
      PLATFORM_GATE_URL: 'https://gate.example',
      PLATFORM_HOST: '0.0.0.0',
      GATE_HOST: '0.0.0.0',
    },
  };
  const env = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get: (_, name) => {
        asked.add(String(name));
        return answers[String(name)];
      },
    },
  );
  // Nothing else is set, so it refuses.
  expect(() => parser(env)).toThrow('the configuration has problems');
  return asked;
}
const agentNames = new Set(listNames(allVariables));
/** What each kind of process reads. */
const known: Readonly<Record<string, ReadonlySet<string>>> = {
  platform: listAsked(parsePlatformConfig),
  gate: listAsked(parseGateConfig),
  agent: agentNames,
  prover: agentNames,
  approve: new Set(
    listNames(Object.values(approveVariables).flatMap((group) => Object.values(group))),
  ),
};

/** Port by default and the routes of each. */
const reached: Readonly<Record<string, string>> = {
  platform: 'http://127.0.0.1:8080/readyz',
  gate: 'http://127.0.0.1:8090/readyz',
  agent: 'http://127.0.0.1:8787/api/readyz',
  approve: 'http://127.0.0.1:8788/healthz',
};

describe('containers', () => {
  it('are one for each kind of process', () => {
    expect(ours.map(([name]) => name).sort()).toEqual(Object.keys(known).sort());
  });

  it.each(ours)('%s: variables, secrets and files exist', (name, service) => {
    const { environment, secrets = [], build, command = [] } = service;
    const unknown = Object.keys(environment).filter((one) => known[name]?.has(one) !== true);
    expect(unknown).toEqual([]);
    const files = Object.values(environment).flatMap(
      (value) => /^\/run\/secrets\/(.+)$/.exec(value)?.[1] ?? [],
    );
    expect(files.sort()).toEqual([...secrets].sort());
    expect(Object.keys(packed)).toContain(build?.args['SERVICE']);
    expect(existsSync(join(root, '.cache/services', build?.dockerfile ?? ''))).toBe(true);
    const expected: Readonly<Record<string, string>> = {
      ...{ platform: 'serve', gate: 'gate serve', agent: 'serve', prover: 'prover' },
      approve: '--env-file /etc/pool-approve/approve.env',
    };
    expect(command.join(' ')).toBe(expected[name]);
  });

  it.each(ours)('%s: has no right that it does not need', (_, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
    const writable = (service.volumes ?? []).filter((volume) => !volume.endsWith(':ro'));
    expect(writable.every((volume) => volume.endsWith(':/var/lib/pool'))).toBe(true);
  });

  it.each(ours.filter(([name]) => name !== 'prover'))(
    '%s: its health is asked where it listens',
    (name, { healthcheck }) => {
      expect(healthcheck?.test.at(-1)).toBe(reached[name]);
    },
  );

  it('every secret is a file, and no file has a secret', () => {
    for (const { secrets, services } of composed) {
      const used = new Set(Object.values(services).flatMap((service) => service.secrets ?? []));
      expect(Object.keys(secrets).sort()).toEqual([...used].sort());
      for (const [name, { file }] of Object.entries(secrets))
        expect(file).toBe(`./secrets/${name}`);
    }
    expect(existsSync(join(folder, 'compose/secrets'))).toBe(false);
  });

  it('images of others are named by version, Node by the one that we test with', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      readonly devDependencies: { readonly node: string };
    };
    const containerfile = read('compose', 'Containerfile');
    const node = `docker.io/library/node:${devDependencies.node}-bookworm-slim`;
    expect(containerfile).toContain(`ARG NODE_IMAGE=${node}\n`);
    for (const [, { build }] of ours)
      expect(build?.args['NODE_IMAGE']).toBe(`\${NODE_IMAGE:-${node}}`);
    expect(containerfile.match(/^FROM (?!\$\{NODE_IMAGE\})/gm)).toBeNull();
    expect(containerfile).toMatch(/^USER 10001:10001$/m);
    const images = Object.values(composed[0]?.services ?? {}).map(({ image }) => image);
    const others = images.filter((image) => !image.includes('localhost/'));
    expect(others).toHaveLength(2);
    for (const image of others)
      expect(image).toMatch(/^\$\{[A-Z]+_IMAGE:-[a-z./]+:\d+\.\d+[\w.-]*\}$/);
  });
});

const units = readdirSync(join(folder, 'systemd')).filter((name) => name.endsWith('.service'));

describe('systemd', () => {
  const approve = readFileSync(join(root, 'apps/approve/deploy/pool-approve.service'), 'utf8');
  /** Lines about what the service may do, but for the network, which differs. */
  const hardening = [
    ...approve.matchAll(
      /^(?:No|Protect|Private|Restrict(?!Address)|Lock|System|Remove|Keyring|Device|Limit|UMask|Capab|Amb).*=.*$/gm,
    ),
  ].map(([line]) => line);

  it.each(units)('%s is as hardened as the gate beside a custodian', (name) => {
    expect(hardening.length).toBeGreaterThan(20);
    const lines = read('systemd', name).split('\n');
    expect(hardening.filter((line) => !lines.includes(line))).toEqual([]);
  });

  it.each(units)('%s names variables, secrets and a command that exist', (file) => {
    const unit = read('systemd', file);
    const name = file.replace(/^pool-|\.service$/g, '');
    const set = [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)];
    const names = set.map(([, variable = '']) => variable).filter((one) => one !== 'NODE_ENV');
    expect(names.filter((one) => known[name]?.has(one) !== true)).toEqual([]);
    const loaded = [...unit.matchAll(/^LoadCredential=([\w-]+):/gm)].map(([, one]) => one);
    const pointed = set.flatMap(([, , value = '']) => /^%d\/(.+)$/.exec(value)?.[1] ?? []);
    expect(pointed).toEqual(loaded);
    const commands: Readonly<Record<string, string>> = {
      ...{ platform: 'serve', gate: 'gate serve' },
      agent: 'serve --env-file /etc/pool-agent/agent.env',
      prover: 'prover --env-file /etc/pool-prover/prover.env',
    };
    expect(unit).toContain(
      `ExecStart=/usr/bin/node /opt/pool-${name}/dist/main.js ${commands[name]}\n`,
    );
    const port = /^SocketBindAllow=ipv4:tcp:(\d+)$/m.exec(unit)?.[1];
    if (port !== undefined) expect(reached[name]).toContain(`:${port}/`);
  });
});

it('every service that is packed has a program and a build', () => {
  for (const [service, packageName] of Object.entries(packed)) {
    const manifest = readManifest(join(root, 'apps', service));
    expect(manifest.name).toBe(packageName);
    expect(Object.values(manifest.bin ?? {})).toEqual(['./dist/main.js']);
    expect(manifest.scripts?.['build']).toContain('tsup');
  }
});
