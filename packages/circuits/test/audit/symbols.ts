/** Signal names by wire, from the compiler's `.sym` file. A signal that the compiler merged into another has no wire of its own. */
import { readFileSync } from 'node:fs';

export type Symbols = {
  /** The name of a wire without `main.`. Wire 0 is `one`. */
  readonly nameOf: (wire: number) => string;
  /** Throws for a name without a wire. */
  readonly wireOf: (name: string) => number;
  /** All names, also those that were merged into others. */
  readonly names: readonly string[];
  readonly hasWire: (name: string) => boolean;
};

export function readSymbols(path: string): Symbols {
  const wires = new Map<string, number>();
  const nameOf: string[] = ['one'];
  for (const line of readFileSync(path, 'utf8').trim().split('\n')) {
    const [, wire = '', , label = ''] = line.split(',');
    const name = label.replace(/^main\./, '');
    wires.set(name, Number(wire));
    if (Number(wire) >= 0) {
      nameOf[Number(wire)] ??= name;
    }
  }
  return {
    nameOf: (wire) => nameOf[wire] ?? `wire ${wire}`,
    wireOf: (name) => {
      const wire = wires.get(name) ?? -1;
      if (wire < 0) {
        throw new Error(`The signal ${name} has no wire.`);
      }
      return wire;
    },
    names: [...wires.keys()],
    hasWire: (name) => (wires.get(name) ?? -1) >= 0,
  };
}
