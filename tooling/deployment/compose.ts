// Starts services of compose.yaml with podman. Debian's podman-compose (1.0.3) does not know names of a service in a network.
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { runCommand } from './command.ts';

export interface ComposeService {
  readonly image: string;
  readonly build?: {
    readonly context: string;
    readonly dockerfile: string;
    readonly args: Readonly<Record<string, string>>;
  };
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?:
    | readonly string[]
    | Readonly<Record<string, { readonly aliases?: readonly string[] }>>;
  readonly network_mode?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly sysctls?: Readonly<Record<string, string>>;
  readonly shm_size?: string;
  readonly user?: string;
  readonly healthcheck?: { readonly test: readonly string[] };
}

/** Everything about containers on this machine. */
export interface Project {
  /** With compose.yaml, and what it names. */
  readonly folder: string;
  readonly name: string;
  /** For podman and buildah. */
  readonly env: Readonly<Record<string, string>>;
}

/** @param variables - for `${NAME:-default}` and `${NAME:?}` */
export function readCompose(
  text: string,
  variables: Readonly<Record<string, string>>,
): Readonly<Record<string, ComposeService>> {
  const filled = text.replaceAll(
    /\$\{([A-Z_]+)(?::-([^}]*)|:\?)\}/g,
    (_, name: string, otherwise: string | undefined) => {
      const value = variables[name] ?? otherwise;
      if (value === undefined) throw new Error(`compose.yaml needs ${name}`);
      return value;
    },
  );
  const { services } = parse(filled, { merge: true }) as {
    readonly services: Readonly<Record<string, ComposeService>>;
  };
  return services;
}

export function podman(project: Project, args: readonly string[], input?: string): Promise<string> {
  const { env } = project;
  return runCommand(['podman', ...args], { env, ...(input === undefined ? {} : { input }) });
}

export async function buildImage(
  { folder, env }: Project,
  { image, build }: ComposeService,
): Promise<void> {
  if (build === undefined) return;
  const context = resolve(folder, build.context);
  const args = Object.entries(build.args).flatMap(([name, value]) => [
    '--build-arg',
    `${name}=${value}`,
  ]);
  const file = join(context, build.dockerfile);
  const command = ['buildah', 'bud', '--isolation', 'chroot', '--tag', image, '--file', file];
  await runCommand([...command, ...args, context], { env });
}

/** The container of a service, with the rights that compose.yaml gives it. Waits until its health check passes, as `depends_on` does. */
export async function startService(
  project: Project,
  name: string,
  service: ComposeService,
): Promise<void> {
  await podman(project, ['run', '--detach', ...listRunArguments(project, name, service)]);
  await waitUntilHealthy(project, name, service);
}

export async function waitUntilHealthy(
  project: Project,
  name: string,
  { healthcheck }: ComposeService,
): Promise<void> {
  const [, ...check] = healthcheck?.test ?? [];
  if (check.length > 0) {
    await waitUntil(name, () => podman(project, ['exec', `${project.name}_${name}`, ...check]));
  }
}

/** Of `podman run`. */
export function listRunArguments(
  project: Project,
  name: string,
  service: ComposeService,
): readonly string[] {
  const place = (source: string): string =>
    /^[./]/.test(source) ? resolve(project.folder, source) : `${project.name}_${source}`;
  const each = (flag: string, list: readonly string[] = []): readonly string[] =>
    list.map((value) => `${flag}=${value}`);
  const pairs = (flag: string, map: Readonly<Record<string, string>> = {}): readonly string[] =>
    each(
      flag,
      Object.entries(map).map(([key, value]) => `${key}=${value}`),
    );
  return [
    `--name=${project.name}_${name}`,
    ...(service.read_only === true ? ['--read-only', '--read-only-tmpfs=false'] : []),
    ...each('--cap-drop', service.cap_drop),
    ...each(
      '--security-opt',
      service.security_opt?.map((option) => option.replace(':true', '')),
    ),
    ...each('--tmpfs', service.tmpfs),
    ...pairs('--sysctl', service.sysctls),
    ...pairs('--env', service.environment),
    ...each('--shm-size', service.shm_size === undefined ? [] : [service.shm_size]),
    ...each('--user', service.user === undefined ? [] : [service.user]),
    ...each(
      '--volume',
      service.secrets?.map((one) => `${place(`./secrets/${one}`)}:/run/secrets/${one}:ro`),
    ),
    ...each(
      '--volume',
      service.volumes?.map((volume) => {
        const [source = '', ...rest] = volume.split(':');
        return [place(source), ...rest].join(':');
      }),
    ),
    ...listNetworks(project, name, service),
    service.image,
    ...(service.command ?? []),
  ];
}

/** Asks until the answer is there. @throws Error with the last failure */
export async function waitUntil(what: string, ask: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    try {
      await ask();
      return;
    } catch (cause) {
      if (performance.now() > deadline) throw new Error(`${what} did not answer`, { cause });
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function isList(value: object): value is readonly string[] {
  return Array.isArray(value);
}

function listNetworks(
  project: Project,
  name: string,
  { networks = [], network_mode: mode }: ComposeService,
): readonly string[] {
  if (mode !== undefined) return [`--network=${mode}`];
  const toFlag = (network: string, aliases: readonly string[] = []): string => {
    const names = [name, ...aliases].map((alias) => `alias=${alias}`).join(',');
    return `--network=${project.name}_${network}:${names}`;
  };
  return isList(networks)
    ? networks.map((network) => toFlag(network))
    : Object.entries(networks).map(([network, { aliases }]) => toFlag(network, aliases));
}
