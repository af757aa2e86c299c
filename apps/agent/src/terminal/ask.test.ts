// When a command can ask the user (docs/decisions/0008).
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createAsk, type TerminalStreams } from './ask.ts';

type Names = readonly (keyof TerminalStreams)[];
const all: Names = ['input', 'output', 'error'];

function createDesk(terminals: Names = all) {
  const text = { output: '', error: '' };
  const create = (name: keyof TerminalStreams): PassThrough & { isTTY: boolean } => {
    const stream = Object.assign(new PassThrough(), { isTTY: terminals.includes(name) });
    if (name !== 'input') {
      stream.on('data', (chunk: Buffer) => {
        text[name] += chunk.toString('utf8');
      });
    }
    return stream;
  };
  const input = create('input');
  const streams = { input, output: create('output'), error: create('error') };
  return { input, text, ask: createAsk(streams as unknown as TerminalStreams) };
}

describe('createAsk', () => {
  it.each([[[]], [['output', 'error']], [['input', 'error']], [['input', 'output']]] as const)(
    'cannot ask if only these are a terminal: %j',
    (terminals) => {
      expect(createDesk(terminals).ask).toBeUndefined();
    },
  );

  it('asks on standard error, so that standard output contains only the outcome', async () => {
    const { ask, input, text } = createDesk();
    const answer = ask?.('Send? ');
    input.write('yes\n');
    expect(await answer).toBe('yes');
    expect(text).toEqual({ output: '', error: expect.stringContaining('Send? ') });
  });

  it('can ask a second time', async () => {
    const { ask, input } = createDesk();
    for (const line of ['y', 'n']) {
      const answer = ask?.('Send? ');
      input.write(`${line}\n`);
      expect(await answer).toBe(line);
    }
  });

  it('returns no answer when the input ends', async () => {
    const { ask, input } = createDesk();
    const answer = ask?.('Send? ');
    input.end();
    expect(await answer).toBeUndefined();
  });
});
