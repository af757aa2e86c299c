// Network namespaces of Linux, joined by cables: three machines' networks on one machine. Needs root and iproute2's `ip`.
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Namespace {
  readonly name: string;
  /** What a command in this namespace begins with. It has its own /etc/hosts. */
  readonly prefix: readonly [string, ...string[]];
  /** Address of the services' namespace on the cable to this one. */
  readonly servicesAddress: string;
}

/** Why network namespaces cannot be made here. Undefined: they can. */
export function findNamespaceObstacle(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are a part of Linux';
  if (process.getuid?.() !== 0) return 'only root makes network namespaces';
  const name = `pool-try-${process.pid}`;
  const { status, stderr, error } = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' });
  if (error !== undefined) return "iproute2's `ip` is not installed";
  if (status !== 0) return `\`ip netns add\` is not permitted: ${stderr.trim()}`;
  ip('netns', 'del', name);
  return undefined;
}

/**
 * One namespace for the services and one for each guest, each with a cable to the services and to nobody else.
 * @param names - that the services are reached by, from everywhere
 * @returns the namespace of the services first
 */
export function createNamespaces(
  folder: string,
  guests: readonly string[],
  names: readonly string[],
): readonly Namespace[] {
  const host = `pool-${process.pid}-services`;
  addNamespace(host);
  const made = guests.map((guest, index) => {
    const name = `pool-${process.pid}-${guest}`;
    const servicesAddress = `10.213.${index}.1`;
    addNamespace(name);
    const [near, far] = [`veth${index}`, 'eth0'];
    ip('-n', host, 'link', 'add', near, 'type', 'veth', 'peer', 'name', far, 'netns', name);
    ip('-n', host, 'addr', 'add', `${servicesAddress}/30`, 'dev', near);
    ip('-n', name, 'addr', 'add', `10.213.${index}.2/30`, 'dev', far);
    ip('-n', host, 'link', 'set', near, 'up');
    ip('-n', name, 'link', 'set', far, 'up');
    return describe(folder, name, servicesAddress, names);
  });
  return [describe(folder, host, '127.0.0.1', names), ...made];
}

export function removeNamespaces(namespaces: readonly Namespace[]): void {
  for (const { name } of namespaces) spawnSync('ip', ['netns', 'del', name]);
}

function addNamespace(name: string): void {
  ip('netns', 'add', name);
  ip('-n', name, 'link', 'set', 'lo', 'up');
}

function describe(
  folder: string,
  name: string,
  servicesAddress: string,
  names: readonly string[],
): Namespace {
  const hosts = join(folder, `${name}.hosts`);
  writeFileSync(hosts, `127.0.0.1 localhost\n${servicesAddress} ${names.join(' ')}\n`);
  // `ip netns exec` gives the command a mount namespace of its own, so that this file is only there.
  const enter = `mount --bind '${hosts}' /etc/hosts && exec "$@"`;
  return { name, servicesAddress, prefix: ['ip', 'netns', 'exec', name, 'sh', '-c', enter, 'sh'] };
}

function ip(...args: readonly string[]): void {
  execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
