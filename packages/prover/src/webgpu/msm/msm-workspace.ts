/**
 * Working memory of the sums on one device, shared by all of them: the queue runs one after the other, so the largest need is
 * enough. It grows when a key is loaded. What it holds between two sums is derived from a witness and is wiped by `recordClear`.
 *
 * @module
 */
/// <reference types="@webgpu/types" />
import type { Buffers } from '../device/buffers.ts';
import { planWords } from './msm-bindings.ts';

/** Bytes of each buffer. */
export type WorkspaceNeeds = {
  readonly keys: number;
  readonly entries: number;
  readonly buckets: number;
  readonly parts: number;
};

export type WorkspaceBuffers = Readonly<
  Record<keyof WorkspaceNeeds | 'plan' | 'indirect', GPUBuffer>
>;

export type MsmWorkspace = {
  /** Grows if it is too small. Sums that were submitted before are not affected. */
  readonly reserve: (needs: WorkspaceNeeds) => void;
  /** The buffers as they are now; the object is another one after each growth. */
  readonly buffers: () => WorkspaceBuffers;
  readonly bytes: () => number;
  /** Records the wiping of everything. */
  readonly recordClear: (encoder: GPUCommandEncoder) => void;
  readonly release: () => void;
};

export function createMsmWorkspace(buffers: Buffers): MsmWorkspace {
  const plan = buffers.take(4 * planWords, { label: 'msm plan' });
  const indirect = buffers.take(4 * planWords, { label: 'msm dispatches', indirect: true });
  let held: WorkspaceBuffers = {
    plan,
    indirect,
    keys: buffers.take(16, { label: 'msm keys' }),
    entries: buffers.take(16, { label: 'msm entries' }),
    buckets: buffers.take(16, { label: 'msm buckets' }),
    parts: buffers.take(16, { label: 'msm parts' }),
  };
  return {
    reserve: (needs) => {
      const grow = (name: keyof WorkspaceNeeds): GPUBuffer => {
        const old = held[name];
        if (old.size >= needs[name]) return old;
        const grown = buffers.take(needs[name], { label: `msm ${name}` });
        buffers.release(old, { secret: true });
        return grown;
      };
      const next = {
        plan,
        indirect,
        keys: grow('keys'),
        entries: grow('entries'),
        buckets: grow('buckets'),
        parts: grow('parts'),
      };
      const isSame = Object.entries(next).every(
        ([name, buffer]) => held[name as keyof WorkspaceBuffers] === buffer,
      );
      if (!isSame) held = next;
    },
    buffers: () => held,
    bytes: () => Object.values(held).reduce((sum, buffer) => sum + buffer.size, 0),
    recordClear: (encoder) => {
      for (const buffer of Object.values(held)) encoder.clearBuffer(buffer);
    },
    release: () => {
      for (const buffer of Object.values(held)) buffers.release(buffer, { secret: true });
    },
  };
}
