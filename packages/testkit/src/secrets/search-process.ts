/**
 * Searches a running process for secrets: its environment, its command line, its open files, and everything in its memory. Linux only.
 *
 * The memory is read page by page from `/proc/<pid>/mem`, which holds what a core dump would hold. Where the kernel denies that
 * (ptrace), a heap snapshot of Node is searched instead, and the answer says so: it has JavaScript values only.
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
import type { ScalarForm } from './scalar-forms.ts';

/** Where a form was found. */
export type Finding = { readonly form: string; readonly where: string };

export type ProcessSearch = {
  /** `memory` holds everything; `heap-snapshot` only the values of JavaScript. */
  readonly dump: 'memory' | 'heap-snapshot';
  /** Bytes of memory or of the snapshot that were searched. */
  readonly searchedBytes: number;
  readonly findings: readonly Finding[];
};

const chunkBytes = 1024 * 1024;
const zeros = Buffer.alloc(chunkBytes);

/**
 * Give this to a process as `NODE_OPTIONS`, so that it can be searched where the kernel denies its memory.
 * @param directory - the snapshot is written there; it holds secrets
 */
export function heapSnapshotOptions(directory: string): string {
  return `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${directory}`;
}

/**
 * @param directory - of {@link heapSnapshotOptions}. Undefined: the search fails where the kernel denies the memory
 * @throws the error of the kernel if neither memory nor snapshot can be read
 */
export async function searchProcess(
  pid: number,
  forms: readonly ScalarForm[],
  directory?: string,
): Promise<ProcessSearch> {
  const findings = [
    ...searchBytes(readFileSync(`/proc/${pid}/environ`), forms, 'environment'),
    ...searchBytes(readFileSync(`/proc/${pid}/cmdline`), forms, 'command line'),
    ...listOpenFiles(pid).flatMap((path) => searchFile(path, forms)),
  ];
  try {
    const memory = searchMemory(pid, forms);
    return { dump: 'memory', ...memory, findings: [...findings, ...memory.findings] };
  } catch (error) {
    if (directory === undefined) {
      throw error;
    }
    const heap = await searchHeapSnapshot(pid, forms, directory);
    return { dump: 'heap-snapshot', ...heap, findings: [...findings, ...heap.findings] };
  }
}

type DumpSearch = { readonly searchedBytes: number; readonly findings: readonly Finding[] };

/** Searches the values of JavaScript in a process that was started with {@link heapSnapshotOptions}. */
export async function searchHeapSnapshot(
  pid: number,
  forms: readonly ScalarForm[],
  directory: string,
): Promise<DumpSearch> {
  const path = await writeHeapSnapshot(pid, directory);
  const searchedBytes = statSync(path).size;
  const findings = searchFile(path, forms).map(({ form }) => ({ form, where: 'heap snapshot' }));
  rmSync(path);
  return { searchedBytes, findings };
}

/** Searches a file, or every file below a directory. */
export function searchFile(path: string, forms: readonly ScalarForm[]): readonly Finding[] {
  if (statSync(path).isDirectory()) {
    return readdirSync(path).flatMap((name) => searchFile(join(path, name), forms));
  }
  if (!statSync(path).isFile()) {
    return [];
  }
  const file = openSync(path, 'r');
  try {
    return searchRange(file, { from: 0, to: statSync(path).size }, forms, path);
  } finally {
    closeSync(file);
  }
}

function searchBytes(
  bytes: Buffer,
  forms: readonly ScalarForm[],
  where: string,
): readonly Finding[] {
  return forms
    .filter((form) => bytes.includes(form.bytes))
    .map(({ name: form }) => ({ form, where }));
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

type Range = { readonly from: number; readonly to: number };

function searchMemory(pid: number, forms: readonly ScalarForm[]): DumpSearch {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  let searchedBytes = 0;
  try {
    const findings = listRanges(pid).flatMap((range) => {
      searchedBytes += range.to - range.from;
      return searchRange(memory, range, forms, 'memory');
    });
    if (searchedBytes === 0) {
      throw new Error(`no memory of process ${pid} could be read`);
    }
    return { searchedBytes, findings };
  } finally {
    closeSync(memory);
  }
}

/** Readable memory, without the pages of the kernel and without files that are mapped and never written. */
function listRanges(pid: number): readonly Range[] {
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

function searchRange(
  file: number,
  { from, to }: Range,
  forms: readonly ScalarForm[],
  where: string,
): readonly Finding[] {
  const overlap = Math.max(...forms.map(({ bytes }) => bytes.length)) - 1;
  const buffer = Buffer.alloc(Math.min(chunkBytes, to - from));
  const found = new Set<string>();
  for (let at = from; at < to; at += Math.max(1, buffer.length - overlap)) {
    const read = readAt(file, buffer, at, to);
    const chunk = buffer.subarray(0, read);
    // Most of a process's memory was never written, and no form is zeros.
    const isEmpty = chunk.equals(zeros.subarray(0, read));
    for (const { name, bytes } of isEmpty ? [] : forms) {
      if (!found.has(name) && chunk.includes(bytes)) {
        found.add(name);
      }
    }
    if (at + read >= to) {
      break;
    }
  }
  buffer.fill(0);
  return [...found].map((form) => ({ form, where }));
}

/** @returns how many bytes were read; pages that are reserved and not used cannot be read */
function readAt(file: number, buffer: Buffer, at: number, to: number): number {
  try {
    return readSync(file, buffer, 0, Math.min(buffer.length, to - at), at);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EIO') {
      return 0;
    }
    throw error;
  }
}

async function writeHeapSnapshot(pid: number, directory: string): Promise<string> {
  const list = (): readonly string[] =>
    readdirSync(directory).filter((name) => name.endsWith('.heapsnapshot'));
  const before = new Set(list());
  process.kill(pid, 'SIGUSR2');
  let size = -1;
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    const name = list().find((one) => !before.has(one));
    if (name === undefined) {
      continue;
    }
    const path = join(directory, name);
    const now = statSync(path).size;
    if (now > 0 && now === size) {
      return path;
    }
    size = now;
  }
}
