/** The part of WebAssembly's JavaScript interface that this repository calls; Node's types do not declare it. */
declare namespace WebAssembly {
  interface Module {
    readonly [Symbol.toStringTag]: string;
  }
  interface Instance {
    readonly exports: Record<string, unknown>;
  }
  interface Memory {
    readonly buffer: ArrayBuffer | SharedArrayBuffer;
    /** Returns the size before, in pages. */
    grow(pages: number): number;
  }
  interface ImportDescriptor {
    readonly kind: string;
    readonly module: string;
    readonly name: string;
  }

  const Module: {
    new (bytes: Uint8Array): Module;
    imports(module: Module): ImportDescriptor[];
  };
  const Instance: new (
    module: Module,
    imports?: Record<string, Record<string, unknown>>,
  ) => Instance;
  const Memory: new (descriptor: {
    readonly initial: number;
    readonly maximum?: number;
    readonly shared?: boolean;
  }) => Memory;
  function compile(bytes: Uint8Array): Promise<Module>;
  function validate(bytes: Uint8Array): boolean;
}
