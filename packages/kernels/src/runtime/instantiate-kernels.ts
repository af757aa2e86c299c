/**
 * An instance of the compiled kernels on a memory.
 *
 * @module
 */

export type Kernel = (...numbers: readonly number[]) => unknown;

/** The exported kernels by name. The module receives the memory under the name that it imports. */
export function instantiateKernels(
  module: WebAssembly.Module,
  memory: WebAssembly.Memory,
): ReadonlyMap<string, Kernel> {
  const imports = Object.fromEntries(
    WebAssembly.Module.imports(module)
      .filter(({ kind }) => kind === 'memory')
      .map((wanted) => [wanted.module, { [wanted.name]: memory }]),
  );
  const { exports } = new WebAssembly.Instance(module, imports);
  return new Map(
    Object.entries(exports).flatMap(([name, value]) =>
      typeof value === 'function' ? [[name, value as Kernel] as const] : [],
    ),
  );
}
