import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createProofQueue } from './proof-queue.ts';

function takeAll(queue: { take: () => string | undefined }): string[] {
  const taken: string[] = [];
  for (let job = queue.take(); job !== undefined; job = queue.take()) taken.push(job);
  return taken;
}

it('stays with one circuit, up to the maximum row', () => {
  const queue = createProofQueue<string>(2);
  for (const job of ['a1', 'b1', 'a2', 'b2', 'a3', 'c1', 'a4']) queue.push(job.slice(0, 1), job);
  expect(takeAll(queue)).toEqual(['a1', 'a2', 'b1', 'b2', 'a3', 'a4', 'c1']);
});

it('keeps the order of a single circuit, without limit while no other circuit waits', () => {
  const queue = createProofQueue<string>(2);
  for (const job of ['a1', 'a2', 'a3', 'a4', 'a5']) queue.push('a', job);
  expect(takeAll(queue)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
});

it('does not return a removed job', () => {
  const queue = createProofQueue<string>();
  queue.push('a', 'a1');
  queue.push('a', 'a2');
  queue.remove('a1');
  queue.remove('never there');
  expect(queue.size()).toBe(1);
  expect(takeAll(queue)).toEqual(['a2']);
  expect(queue.size()).toBe(0);
});

it('never starves a job: at most a full row per job comes before it', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 60 }), (rest) => {
      const queue = createProofQueue<string>(3);
      queue.push('a', 'first');
      expect(queue.take()).toBe('first');
      queue.push('z', 'patient');
      for (const circuit of rest) queue.push(circuit, circuit);
      expect(takeAll(queue).indexOf('patient')).toBeLessThanOrEqual(3);
    }),
  );
});
