/** The part of snarkjs that this repository calls; the package ships no types. */
declare module 'snarkjs' {
  type Log = (message: string) => void;
  export type Logger = { debug: Log; info: Log; warn: Log; error: Log };
  export type MemoryFile = { type: 'mem'; data?: Uint8Array };
  type Json = Record<string, unknown>;

  export const wtns: {
    calculate(
      input: unknown,
      wasm: string | Uint8Array | MemoryFile,
      output: MemoryFile | string,
    ): Promise<void>;
    check(
      r1cs: string | Uint8Array,
      witness: string | Uint8Array,
      logger?: Logger,
    ): Promise<boolean>;
    exportJson(witness: MemoryFile): Promise<bigint[]>;
  };
  export const groth16: {
    fullProve(
      input: unknown,
      wasm: string | MemoryFile,
      zkey: string | MemoryFile,
      logger?: Logger,
      calculatorOptions?: unknown,
      options?: { readonly singleThread?: boolean },
    ): Promise<{ proof: unknown; publicSignals: string[] }>;
    prove(
      zkey: string | MemoryFile,
      witness: string | MemoryFile,
      logger?: Logger,
    ): Promise<{ proof: unknown; publicSignals: string[] }>;
    exportSolidityCallData(proof: unknown, publicSignals: readonly string[]): Promise<string>;
    verify(key: unknown, publicSignals: readonly string[], proof: unknown): Promise<boolean>;
  };
  type Curve = { readonly name: string };
  export const curves: { getCurveFromName(name: string): Promise<Curve> };
  export const powersOfTau: {
    newAccumulator(curve: Curve, power: number, file: string): Promise<unknown>;
    contribute(from: string, to: string, name: string, entropy: string): Promise<unknown>;
    beacon(from: string, to: string, name: string, hex: string, exponent: number): Promise<unknown>;
    preparePhase2(from: string, to: string): Promise<void>;
    /** Writes `<template>NN.ptau` for each smaller power NN. */
    truncate(file: string, template: string): Promise<unknown>;
    verify(file: string, logger?: Logger): Promise<boolean>;
  };
  export const zKey: {
    beacon(from: string, to: string, name: string, hex: string, exponent: number): Promise<unknown>;
    contribute(from: string, to: string, name: string, entropy: string): Promise<unknown>;
    newZKey(r1cs: string, ptau: string, zkey: string): Promise<Uint8Array>;
    exportVerificationKey(zkey: string | MemoryFile): Promise<Json>;
    verifyFromR1cs(r1cs: string, ptau: string, zkey: string, logger?: Logger): Promise<boolean>;
    verifyFromInit(init: string, ptau: string, zkey: string, logger?: Logger): Promise<boolean>;
  };
}
