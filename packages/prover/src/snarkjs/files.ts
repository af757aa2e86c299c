/**
 * The forms in which snarkjs takes files.
 *
 * @module
 */
import { argumentError } from '../base/errors.ts';
import type { FileInput } from '../base/file-input.ts';
import { writeWholeFile } from './write-file.ts';

/** A file that snarkjs reads: one of its own forms, or another that this package reads. */
export type InputFile = FileInput | { readonly type: 'file'; readonly fileName: string };

/** A file that snarkjs writes: a path, or an object that receives `data`. */
export type OutputFile =
  | string
  | { readonly type: 'file'; readonly fileName: string }
  | { type: 'mem'; data?: Uint8Array | undefined };

function isPathObject(file: unknown): file is { readonly fileName: string } {
  return (
    typeof file === 'object' &&
    file !== null &&
    (file as { type?: unknown }).type === 'file' &&
    typeof (file as { fileName?: unknown }).fileName === 'string'
  );
}

export function toFileInput(file: InputFile): FileInput {
  return isPathObject(file) ? file.fileName : file;
}

/**
 * @param data - belongs to the object afterwards, or is wiped by the caller
 * @throws ProverError `argument_invalid`
 */
export async function writeSecret(file: OutputFile, data: Uint8Array): Promise<'kept' | 'copied'> {
  const path = isPathObject(file) ? file.fileName : file;
  if (typeof path === 'string') {
    await writeWholeFile(path, data, true);
    return 'copied';
  }
  if (typeof path !== 'object' || path === null || path.type !== 'mem') {
    throw argumentError('An output must be a path or { type: "mem" }.');
  }
  path.data = data;
  return 'kept';
}
