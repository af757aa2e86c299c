// A run that is interrupted keeps no lock, whenever the lock comes.
import { expect, it, vi } from 'vitest';
import { createHold } from './hold.ts';

function createLock() {
  const given = Promise.withResolvers<() => void>();
  const stopped = Promise.withResolvers<never>();
  const release = vi.fn();
  const hold = createHold({
    acquire: () => given.promise,
    orStop: (work) => Promise.race([work, stopped.promise]),
    tryAcquire: () => Promise.resolve(undefined),
    isTaken: () => true,
  });
  return {
    hold,
    release,
    give: () => given.resolve(release),
    stop: () => stopped.reject(new Error('stop')),
  };
}

it('releases a lock that comes after the run was interrupted', async () => {
  const { hold, release, give, stop } = createLock();
  const waiting = hold.acquire();
  stop();
  await expect(waiting).rejects.toThrow('stop');
  give();
  await expect.poll(() => release.mock.calls).toHaveLength(1);
});

it('releases a lock that comes after the run has ended', async () => {
  const { hold, release, give } = createLock();
  expect(hold.claim()).toBe(false);
  hold.end();
  give();
  await expect.poll(() => release.mock.calls).toHaveLength(1);
});

it('keeps its place in the queue when it releases, until it leaves', async () => {
  const { hold, release, give } = createLock();
  hold.claim();
  hold.release();
  hold.leave();
  give();
  await expect.poll(() => release.mock.calls).toHaveLength(1);
  expect(hold.claim()).toBe(false);
  hold.release();
  await expect.poll(() => hold.claim()).toBe(true);
  expect(release).toHaveBeenCalledOnce();
});

it('says that it waited when the lock was taken', async () => {
  const { hold, release, give } = createLock();
  expect(await hold.tryAcquire()).toBe(false);
  expect(hold.hasWaited()).toBe(true);
  const waiting = hold.acquire();
  give();
  await waiting;
  expect(await hold.tryAcquire()).toBe(true);
  expect(release).not.toHaveBeenCalled();
});
