/**
 * Thread that runs witness programs, so that the caller's thread is never blocked and a program that does not end can be ended.
 *
 * @module
 */
import { serveCalls } from '../base/serve-calls.ts';
import { readSignalNames } from './signal-names.ts';
import { parseWitnessInput } from './witness-input.ts';
import { computeWitness } from './witness-program.ts';

export type WitnessRequest = {
  readonly program: WebAssembly.Module;
  /** Signals by name. Secret. */
  readonly input: unknown;
  /** Limit of the witness. */
  readonly maximumBytes: number;
  /** Where the program was read. */
  readonly path: string | undefined;
};

serveCalls(({ program, input, maximumBytes, path }: WitnessRequest) => {
  const findNames = () => (path === undefined ? [] : readSignalNames(path));
  const result = computeWitness(program, parseWitnessInput(input), maximumBytes, findNames);
  return { result, transfer: [result.buffer] };
});
