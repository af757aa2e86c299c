/**
 * The messages between a page and a worker that has kernels with a memory of its own.
 *
 * @module
 */
import type { Group } from '../curve/points.ts';
import type { ImageShape } from '../images.ts';
import type { KernelsErrorCode } from '../runtime/errors.ts';
import type { Multiplier } from '../runtime/wasm-module.ts';
import type { Rows, RowsInput } from '../scalars/rows.ts';

/** The first message. The module imports a memory that is not shared. */
export type HostStart = {
  readonly module: WebAssembly.Module;
  readonly multiplier: Multiplier;
  readonly maximumBytes: number;
};

/** Bytes are transferred. Residents are named by their numbers in the worker. */
export type HostCall =
  | { readonly op: 'loadPoints'; readonly group: Group; readonly count: number }
  | { readonly op: 'loadRows'; readonly input: RowsInput }
  | { readonly op: 'restoreImage'; readonly shape: ImageShape; readonly size: number }
  | {
      readonly op: 'readImage';
      readonly resident: number;
      readonly position: number;
      readonly length: number;
    }
  /** `witness` is secret, and so is the result. The worker wipes its copies. */
  | { readonly op: 'computeQuotient'; readonly rows: number; readonly witness: Bytes }
  /** One or two terms. `scalars` are secret. The worker wipes them. */
  | {
      readonly op: 'computeMsm';
      readonly terms: readonly { readonly table: number; readonly scalars: Bytes }[];
    }
  | { readonly op: 'release'; readonly resident: number };

export type Bytes = Uint8Array<ArrayBuffer>;

/** What a call of each kind returns. */
export type HostResults = {
  readonly loadPoints: HeldPart;
  readonly loadRows: HeldPart;
  readonly restoreImage: HeldPart;
  readonly readImage: Bytes;
  readonly computeQuotient: Bytes;
  readonly computeMsm: Bytes;
  readonly release: undefined;
};

/** A resident of a worker. `a` and `b` are of matrices. */
export type HeldPart = {
  readonly resident: number;
  readonly bytes: number;
  readonly a?: Rows['a'];
  readonly b?: Rows['b'];
};

/** Calls run in their order, one at a time. An abort ends one that runs or waits. */
export type HostMessage =
  | { readonly type: 'call'; readonly id: number; readonly call: HostCall }
  | { readonly type: 'abort'; readonly id: number }
  /** The bytes that the call asked for with `read`. Undefined if they cannot be read. */
  | { readonly type: 'bytes'; readonly id: number; readonly bytes: Bytes | undefined }
  /** Ends all calls and wipes the memory. */
  | { readonly type: 'close' };

export type HostAnswer =
  /** One of both, first. */
  | { readonly type: 'ready' }
  | { readonly type: 'unable'; readonly message: string }
  | { readonly type: 'done'; readonly id: number; readonly result: unknown }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly code: KernelsErrorCode;
      readonly message: string;
      readonly retryable: boolean;
    }
  | { readonly type: 'progress'; readonly id: number; readonly fraction: number }
  /** Asks for points (loadPoints) or bytes (restoreImage): `count` of them, from number `start` on. */
  | {
      readonly type: 'read';
      readonly id: number;
      readonly start: number;
      readonly count: number;
      readonly bytes: number;
    }
  | { readonly type: 'closed' };
