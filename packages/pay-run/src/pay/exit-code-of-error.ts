/**
 * The exit code of an error, from core's table of error codes.
 *
 * @module
 */
import { findErrorEntry } from '@pool/core';
import { exitCodes } from '../exit-codes.ts';

/** @param code - code of the error that ended a command */
export function exitCodeOfError(code: string): number {
  return findErrorEntry(code)?.exit ?? exitCodes.error;
}
