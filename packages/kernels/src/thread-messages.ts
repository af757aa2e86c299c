/**
 * What the main thread and a kernel thread say to each other.
 *
 * @module
 */

/** One call of an exported kernel: its name and its numbers (addresses, counts). */
export type KernelCall = readonly [name: string, ...numbers: number[]];

/** What the cell of an order says. Who changes `waiting` to `taken` owns the order: the thread that begins it, or the main thread
 * taking it back. `cutShort` is the main thread's word that no further call of it need be made. */
export const claim = { waiting: 0, taken: 1, cutShort: 2 } as const;

/** What a thread is started with. Module and memory are shared, not copied. */
export type ThreadStart = {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
};

export type ThreadWork = ThreadStart & {
  /** Int32 cells, one for each order in hand: see `claim`. */
  readonly claims: SharedArrayBuffer;
};

/** Calls to make one after the other, unless the main thread took the order back. */
export type ThreadOrder = {
  readonly id: number;
  readonly cell: number;
  readonly calls: readonly KernelCall[];
};

/** `ready` once; then one answer an order, also if taken back, in the order of the orders. `failure` is why a call stopped. */
export type ThreadAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'done'; readonly id: number; readonly failure?: string };
