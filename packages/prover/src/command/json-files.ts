/**
 * JSON files of the command line, in the layout of snarkjs.
 *
 * @module
 */
import { readFile } from 'node:fs/promises';
import { argumentError } from '../base/errors.ts';
import { writeWholeFile } from '../snarkjs/write-file.ts';

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'error';
    throw argumentError(
      `The file ${path} cannot be read (${code}). Check its path and permissions.`,
    );
  });
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the file, which may be secret.
    throw argumentError(`The file ${path} is not JSON. Write it again.`);
  }
}

/** @throws ProverError `argument_invalid` */
export async function readObject(path: string): Promise<Record<string, unknown>> {
  const value = await readJson(path);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw argumentError(
      `The file ${path} does not contain an object. Check the order of the files.`,
    );
  }
  return { ...value };
}

/** @throws ProverError `argument_invalid` */
export async function readArray(path: string): Promise<unknown[]> {
  const value = await readJson(path);
  if (!Array.isArray(value)) {
    throw argumentError(
      `The file ${path} does not contain an array. Check the order of the files.`,
    );
  }
  return [...(value as unknown[])];
}

/** @throws ProverError `argument_invalid` */
export async function writeJson(path: string, value: unknown, isSecret = false): Promise<void> {
  await writeWholeFile(path, JSON.stringify(value, null, 1), isSecret);
}
