/**
 * The messages between the main thread and a kernel thread.
 *
 * @module
 */

/** One call of an exported kernel: its name and its arguments (addresses, counts). */
export type KernelCall = readonly [name: string, ...numbers: number[]];

/**
 * States of an order's cell. The side that changes `waiting` to `taken` owns the order: the thread that begins it, or the main
 * thread that takes it back. With `cutShort`, the main thread tells the thread to make no further call of the order.
 */
export const claim = { waiting: 0, taken: 1, cutShort: 2 } as const;

/** What a thread works on. Module and memory are shared, not copied. */
export type ThreadStart = {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
};

export type ThreadWork = ThreadStart & {
  /** Int32 cells, one for each outstanding order; see `claim`. */
  readonly claims: Int32Array<ArrayBuffer | SharedArrayBuffer>;
};

/** Calls to make one after another, unless the main thread takes the order back. */
export type ThreadOrder = {
  readonly id: number;
  readonly cell: number;
  readonly calls: readonly KernelCall[];
};

/**
 * `ready` once. Then one answer per order, in their order, also if the order was taken back. `failure` says why a call stopped.
 */
export type ThreadAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly id: number; readonly failure?: string };
