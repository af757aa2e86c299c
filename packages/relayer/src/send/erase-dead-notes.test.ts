/** Which sealed notes of spends are erased, and which never (the verifiers alone are fakes). */
import { assertField } from '@pool/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createSpendScene } from '../../test/spend-scene.ts';
import { createEraser } from './erase-dead-notes.ts';

const scene = createSpendScene();
beforeAll(scene.open);
afterAll(scene.close);
beforeEach(scene.begin);
afterEach(scene.end);

const { accept, deps, makeSpend, notesOf, passDeadline, recordOf, relay, settleDown, withdraw } =
  scene;

describe('sealed notes of spends that never landed', () => {
  it('are erased long after the deadline, and those of a spend that landed are kept', async () => {
    await accept(await withdraw(), 'landed');
    await relay();
    await settleDown();
    const dead = await makeSpend({ note: 'dead', eligibilityRoot: assertField(777n) });
    await accept(dead, 'dead');
    await relay();
    const erase = async (keepSeconds: number): Promise<number> => {
      const eraser = createEraser({
        ...deps(),
        nowMs: () => Date.parse('2099-01-01T00:00:00Z'),
        keepSeconds,
      });
      await scene.indexer.pass();
      await eraser.pass();
      return (await scene.database.db.selectFrom('sealed_notes').selectAll().execute()).length;
    };
    expect(await erase(50)).toBe(8);
    await passDeadline();
    expect(await erase(500)).toBe(8);
    expect(await erase(50)).toBe(4);
    expect(await notesOf(scene.a)).toHaveLength(1);
    expect((await recordOf('dead')).state).toBe('reverted');
    // Its notes are gone, so it is not sent again.
    expect(await accept(dead, 'dead')).toBe('reverted');
  });

  it('are kept while the contract has the spend and the index does not', async () => {
    const request = await withdraw();
    await accept(request);
    await relay();
    expect((await recordOf()).state).toBe('submitted');
    await passDeadline();
    await scene.indexer.pass();
    await scene.database.db.updateTable('submissions').set({ state: 'reverted' }).execute();
    await scene.database.db.updateTable('relayer_transactions').set({ state: 'dropped' }).execute();
    await scene.database.db.updateTable('batches').set({ submission_id: null }).execute();
    await scene.database.db.deleteFrom('batches').where('kind', '=', 'spend').execute();
    const nowMs = () => Date.parse('2099-01-01T00:00:00Z');
    const eraser = createEraser({ ...deps(), nowMs, keepSeconds: 0 });
    await eraser.pass();
    expect(await scene.database.db.selectFrom('sealed_notes').selectAll().execute()).toHaveLength(
      4,
    );
  });
});
