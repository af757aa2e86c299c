/**
 * Colours of standard output.
 *
 * @module
 */
import { styleText } from 'node:util';

export type Paint = (color: 'green' | 'yellow' | 'red' | 'dim', text: string) => string;

/** Colours where the stream is a terminal, or `FORCE_COLOR` asks for them; none under `NO_COLOR`. */
export function createPaint(stream: NodeJS.WriteStream): Paint {
  return (color, text) => styleText(color, text, { stream });
}
