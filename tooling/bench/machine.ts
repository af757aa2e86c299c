// The description of the machine in every table of results.
import { cpus, release, totalmem, type } from 'node:os';

/** Processor, cores, memory, system, Node: the figures depend on them. */
export function describeMachine(): string {
  const processors = cpus();
  const gib = (totalmem() / 2 ** 30).toFixed(0);
  return `${processors[0]?.model ?? 'unknown processor'}, ${processors.length} logical cores, ${gib} GiB, ${type()} ${release()}, Node ${process.version}`;
}
