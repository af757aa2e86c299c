/**
 * Searches a running process for secrets: its environment, its command line, its open files, and everything in its memory. Linux only.
 *
 * The memory is read from `/proc/<pid>/mem`, which holds what a core dump would hold. Where the kernel denies that (ptrace), a heap
 * snapshot of Node is searched instead, and the answer says so: it has strings of JavaScript, without buffers and numbers.
 *
 * @module
 */
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { readProcessIdentity } from '../process-identity.ts';
import type { ScalarForm } from './scalar-forms.ts';
import {
  type ByteRange,
  type Finding,
  type RangeSearch,
  type ReadAt,
  searchBytes,
  searchFile,
  searchRange,
} from './search-bytes.ts';

export type ProcessSearch = RangeSearch & {
  /** `memory` holds everything; `heap snapshot` only strings of JavaScript in the main thread, up to 1,024 characters of each. */
  readonly dump: 'memory' | 'heap snapshot';
};

export type SearchOptions = {
  /** Of {@link heapSnapshotOptions}. Default: the search fails where the kernel denies the memory. */
  readonly snapshotDirectory?: string;
  /** Opens the memory of a process. Default: `/proc/<pid>/mem`. Tests deny it here. */
  readonly openMemory?: (pid: number) => number;
};

/**
 * Give this to a process as `NODE_OPTIONS`, so that it can be searched where the kernel denies its memory.
 * @param directory - the snapshot is written there; it holds secrets
 */
export function heapSnapshotOptions(directory: string): string {
  return `${snapshotOption}=SIGUSR2 --diagnostic-dir=${directory}`;
}

const snapshotOption = '--heapsnapshot-signal';

/**
 * @throws the error of the kernel if neither memory nor snapshot can be read, and if environment, command line or open files cannot
 */
export async function searchProcess(
  pid: number,
  forms: readonly ScalarForm[],
  { snapshotDirectory, openMemory = openProcessMemory }: SearchOptions = {},
): Promise<ProcessSearch> {
  const outside = [
    ...searchBytes(readFileSync(`/proc/${pid}/environ`), forms, 'environment'),
    ...searchBytes(readFileSync(`/proc/${pid}/cmdline`), forms, 'command line'),
    ...listOpenFiles(pid).flatMap((path) => searchFile(path, forms)),
  ];
  const { dump, searchedBytes, findings } = await searchInside();
  return { dump, searchedBytes, findings: [...outside, ...findings] };

  async function searchInside(): Promise<ProcessSearch> {
    try {
      return { dump: 'memory', ...searchMemory(pid, forms, openMemory) };
    } catch (error) {
      if (snapshotDirectory === undefined || !isDenied(error)) {
        throw error;
      }
      const heap = await searchHeapSnapshot(pid, forms, snapshotDirectory);
      return { dump: 'heap snapshot', ...heap };
    }
  }
}

function openProcessMemory(pid: number): number {
  return openSync(`/proc/${pid}/mem`, 'r');
}

function isDenied(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^(EACCES|EPERM)$/.test(String(error.code));
}

/**
 * Searches the strings of JavaScript in a process that was started with {@link heapSnapshotOptions}.
 * @throws Error when it was not, or when it ends
 */
export async function searchHeapSnapshot(
  pid: number,
  forms: readonly ScalarForm[],
  directory: string,
): Promise<RangeSearch> {
  const path = await writeHeapSnapshot(pid, directory);
  try {
    const findings = searchFile(path, forms).map(({ form }) => ({ form, where: 'heap snapshot' }));
    return { searchedBytes: statSync(path).size, findings };
  } finally {
    rmSync(path);
  }
}

function listOpenFiles(pid: number): readonly string[] {
  const paths = readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      // It was closed meanwhile.
      return [];
    }
  });
  return [...new Set(paths)].filter((path) => {
    try {
      return path.startsWith('/') && !path.startsWith('/dev/') && statSync(path).isFile();
    } catch {
      return false;
    }
  });
}

function searchMemory(
  pid: number,
  forms: readonly ScalarForm[],
  openMemory: (pid: number) => number,
): RangeSearch {
  const memory = openMemory(pid);
  const read: ReadAt = (...place) => readSync(memory, ...place);
  try {
    const ranges = listRanges(pid).flatMap((range) => listTouched(pid, range));
    const searched = ranges.map((range) => searchRange(read, range, forms, 'memory'));
    const searchedBytes = searched.reduce((sum, range) => sum + range.searchedBytes, 0);
    if (searchedBytes === 0) {
      throw Object.assign(new Error(`no memory of process ${pid} could be read`), {
        code: 'EACCES',
      });
    }
    const found = new Map<string, Finding>();
    for (const finding of searched.flatMap(({ findings }) => findings)) {
      found.set(finding.form, finding);
    }
    return { searchedBytes, findings: [...found.values()] };
  } finally {
    closeSync(memory);
  }
}

/** Readable memory, without the pages of the kernel and without files that are mapped and never written. */
function listRanges(pid: number): readonly ByteRange[] {
  return readFileSync(`/proc/${pid}/maps`, 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, from = '', to = '', access = '', path = ''] =
        /^([0-9a-f]+)-([0-9a-f]+) (\S+) \S+ \S+ \S+ *(.*)$/.exec(line) ?? [];
      const isOwn = access.startsWith('r') && (access[1] === 'w' || path === '');
      const isKernels = path === '[vvar]' || path === '[vsyscall]' || path === '[vdso]';
      return isOwn && !isKernels
        ? [{ from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) }]
        : [];
    });
}

const pageBytes = 4096;
const pageEntryBytes = 8;
/** In the last byte of a page's entry: it is in memory, or in swap. */
const isTouched = 0b1100_0000;

/**
 * The parts of a range that the process has used. It reserves gigabytes for WebAssembly and uses a tenth. A kernel without page maps
 * gives the whole range.
 */
function listTouched(pid: number, { from, to }: ByteRange): readonly ByteRange[] {
  const entries = Buffer.alloc(((to - from) / pageBytes) * pageEntryBytes);
  let count = 0;
  try {
    const map = openSync(`/proc/${pid}/pagemap`, 'r');
    try {
      count = readSync(map, entries, 0, entries.length, (from / pageBytes) * pageEntryBytes);
    } finally {
      closeSync(map);
    }
  } catch {
    return [{ from, to }];
  }
  const touched: ByteRange[] = [];
  // What the kernel did not describe counts as touched.
  const isUsed = (at: number): boolean =>
    at >= count || ((entries[at + pageEntryBytes - 1] ?? 0) & isTouched) !== 0;
  for (let at = 0; at < entries.length; ) {
    const start = at;
    const used = isUsed(at);
    while (at < entries.length && isUsed(at) === used) at += pageEntryBytes;
    const address = (offset: number): number => from + (offset / pageEntryBytes) * pageBytes;
    if (used) touched.push({ from: address(start), to: address(at) });
  }
  return touched;
}

async function writeHeapSnapshot(pid: number, directory: string): Promise<string> {
  // Without the option, the signal would end the process.
  if (!readFileSync(`/proc/${pid}/environ`, 'latin1').includes(snapshotOption)) {
    throw new Error(
      `process ${pid} writes no heap snapshots: start it with heapSnapshotOptions() as NODE_OPTIONS`,
    );
  }
  const list = (): readonly string[] =>
    readdirSync(directory).filter((name) => name.endsWith('.heapsnapshot'));
  const before = new Set(list());
  process.kill(pid, 'SIGUSR2');
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const name = list().find((one) => !before.has(one));
    if (name !== undefined && isComplete(join(directory, name))) {
      return join(directory, name);
    }
    if (readProcessIdentity(pid) === undefined) {
      throw new Error(`process ${pid} ended before its heap snapshot was complete`);
    }
  }
}

/** A snapshot is one JSON object, written from its first byte to its last. */
function isComplete(path: string): boolean {
  const size = statSync(path).size;
  const file = openSync(path, 'r');
  try {
    const tail = Buffer.alloc(2);
    readSync(file, tail, 0, 2, Math.max(0, size - 2));
    return tail.toString('latin1') === ']}';
  } finally {
    closeSync(file);
  }
}
