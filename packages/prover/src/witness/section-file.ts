/**
 * Files of sections that are not keys: witnesses and constraints.
 *
 * @module
 */
import type { ByteSource } from '@pool/kernels';
import type { FileRole, OpenOptions } from '../base/byte-sources.ts';
import { ProverError, type ProverErrorCode } from '../base/errors.ts';
import { type FileInput, openFile } from '../base/file-input.ts';

/**
 * Opens a file, reads it and closes it.
 * @param malformed - the code for a damaged file
 * @throws ProverError `malformed`, `memory_budget_exceeded`, `artifact_unreadable`; the signal's reason; what `read` throws
 */
export async function readSectionFile<T>(
  file: FileInput,
  { role, malformed }: { readonly role: FileRole; readonly malformed: ProverErrorCode },
  options: OpenOptions,
  read: (source: ByteSource) => Promise<T>,
): Promise<T> {
  const source = await openFile(file, role, options);
  try {
    return await read(source);
  } catch (error) {
    // The reader of sections is that of keys.
    throw error instanceof Error && 'code' in error && error.code === 'zkey_malformed'
      ? new ProverError(malformed, error.message)
      : error;
  } finally {
    await source.close();
  }
}
