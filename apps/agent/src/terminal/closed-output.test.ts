import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { interruptOnClosedOutput } from './closed-output.ts';

const closed = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' });

function open() {
  const output = new EventEmitter();
  const error = new EventEmitter();
  const interrupt = vi.fn();
  interruptOnClosedOutput({ output, error }, interrupt);
  return { output, error, interrupt };
}

describe('interruptOnClosedOutput', () => {
  it('interrupts the command once when its reader is gone', () => {
    const { output, interrupt } = open();
    output.emit('error', closed);
    output.emit('error', closed);
    expect(interrupt).toHaveBeenCalledTimes(1);
  });

  it('goes on without a reader of its notes', () => {
    const { error, interrupt } = open();
    error.emit('error', closed);
    expect(interrupt).not.toHaveBeenCalled();
  });

  it.each(['output', 'error'] as const)('passes another failure of %s on', (stream) => {
    const full = Object.assign(new Error('write ENOSPC'), { code: 'ENOSPC' });
    expect(() => open()[stream].emit('error', full)).toThrow('ENOSPC');
  });
});
