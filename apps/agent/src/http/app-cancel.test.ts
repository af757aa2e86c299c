// DELETE /api/disburse/:key (docs/decisions/0007): stores the request, notifies the worker, answers the end of the job.
import { cancellationName } from '@pool/operations';
import { describe, expect, it } from 'vitest';
import { createTestApp, employerId } from '../fixtures/test-app.ts';

const path = '/api/disburse/june';

/** Writes the end of a job, as the worker that holds it does. */
const paid = { kind: 'completed', result: { status: 'completed' }, settlement: {} };
const cancelled = { kind: 'failed', error: { code: 'cancelled', message: 'm' } };

async function end(
  { store, clock }: ReturnType<typeof createTestApp>,
  state: 'submitted' | 'done' | 'failed',
  changes: object,
): Promise<void> {
  const nowMs = clock.nowMs();
  const lease = await store.lease({
    workerId: 'w',
    states: ['accepted', 'submitted'],
    ttlMs: 1,
    nowMs,
  });
  const { scope, key, payload } = lease!.job;
  await store.update({
    scope,
    key,
    fence: lease!.fence,
    state,
    payload: JSON.stringify({ ...JSON.parse(payload), ...changes }),
    nowMs,
  });
}

function readCancellation({ store }: ReturnType<typeof createTestApp>) {
  return store.getValue(employerId, 'june', cancellationName);
}

describe('DELETE /api/disburse/:key', () => {
  it('stores the request, notifies the worker and answers the job at its end [cancel.answer]', async () => {
    const test = createTestApp();
    await test.post('june', test.request);
    const answer = await test.remove(path);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      key: 'june',
      state: 'failed',
      error: { code: 'cancelled', message: 'nothing was paid' },
    });
    expect(test.state.cancels).toEqual(['june']);
    expect(await readCancellation(test)).toContain('askedAtMs');
    // The key stays used: the same request answers the cancelled job.
    expect((await test.post('june', test.request)).status).toBe(200);
  });

  it('does not answer while the outcome of the job is uncertain [cancel.answer]', async () => {
    const test = createTestApp();
    test.state.endsCancelled = false;
    await test.post('june', test.request);
    let isAnswered = false;
    const answer = Promise.resolve(test.remove(path)).then((response) => {
      isAnswered = true;
      return response;
    });
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(isAnswered).toBe(false);
    await end(test, 'done', { phase: paid });
    // It was paid first, and the answer shows it.
    expect(await (await answer).json()).toMatchObject({
      state: 'done',
      result: { status: 'completed' },
    });
  });

  it('continues after the caller disconnects, and a repeated request waits for the same end', async () => {
    const test = createTestApp();
    test.state.endsCancelled = false;
    await test.post('june', test.request);
    const caller = new AbortController();
    const first = test.remove(path, {}, caller.signal);
    await expect.poll(() => readCancellation(test)).toBeDefined();
    caller.abort();
    await Promise.resolve(first).catch(() => undefined);
    expect(await readCancellation(test)).toBeDefined();
    const second = test.remove(path);
    setTimeout(() => void end(test, 'failed', { phase: cancelled }), 100);
    expect(await (await second).json()).toMatchObject({ error: { code: 'cancelled' } });
  });

  it('answers 503 when the agent stops first, and the request is stored', async () => {
    const test = createTestApp();
    test.state.endsCancelled = false;
    await test.post('june', test.request);
    const answered = test.remove(path);
    await expect.poll(() => readCancellation(test)).toBeDefined();
    test.stopping.abort();
    const answer = await answered;
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ code: 'stopping' });
    expect(await readCancellation(test)).toBeDefined();
  });

  it('answers 409 when the job cannot be ended with the settings of this agent, and keeps the request [cancel.other-settings]', async () => {
    const test = createTestApp();
    test.state.endsCancelled = false;
    await test.post('june', test.request);
    const blocked = { code: 'configuration_changed', message: 'the funder was 0xa and is 0xb.' };
    const stage = 'configuration-changed';
    const block = (isCancelled: boolean): Promise<void> =>
      end(test, 'submitted', { stage, blocked: { ...blocked, isCancelled } });
    // Written before the worker has read the request to cancel, so it does not answer that request.
    await block(false);
    const answer = Promise.resolve(test.remove(path));
    await expect.poll(() => readCancellation(test)).toBeDefined();
    test.clock.advanceSeconds(1);
    setTimeout(() => void block(true), 300);
    expect((await answer).status).toBe(409);
    expect(await (await answer).json()).toEqual({
      code: 'configuration_changed',
      message: expect.stringMatching(/^the funder was 0xa and is 0xb.*the cancellation is stored/),
    });
    expect(await readCancellation(test)).toBeDefined();
    expect(await (await test.get(path)).json()).toEqual({
      key: 'june',
      state: 'submitted',
      stage,
    });
    const trace = (await (await test.get(`${path}/trace`)).json()) as object;
    expect(trace).toMatchObject({ refusal: blocked });
  });

  it('answers a job that has ended unchanged, and stores nothing [cancel.answer]', async () => {
    const test = createTestApp();
    await test.post('june', test.request);
    await end(test, 'done', { phase: paid });
    const answer = await test.remove(path);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ state: 'done' });
    expect(test.state.cancels).toEqual([]);
    expect(await readCancellation(test)).toBeUndefined();
  });

  it('answers 404 to an unknown key, and to a key of another employer [cancel.answer]', async () => {
    const test = createTestApp();
    const nowMs = test.clock.nowMs();
    const job = { fingerprint: 'f', state: 'accepted', payload: '{}', nowMs };
    await test.store.claim({ ...job, scope: 'another employer', key: 'june' });
    const answer = await test.remove(path);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ code: 'not_found' });
    expect(test.state.cancels).toEqual([]);
    expect(await test.store.getValue('another employer', 'june', cancellationName)).toBeUndefined();
  });
});
