// The reports to the operator about the prover's device.
import { expect, it, vi } from 'vitest';
import { createAcceleratorProbe, createIncidentLog } from './agent-prover.ts';

it('each incident of the prover is one log line with its code; a retired device is an error', () => {
  const log = { debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const report = createIncidentLog(log);
  const codes = [
    'accelerator_lost',
    'accelerator_refused',
    'accelerator_wrong_result',
    'accelerator_too_small',
  ] as const;
  for (const code of codes) report({ code, message: `about ${code}` });
  expect(log.warn.mock.calls).toEqual(codes.map((code) => [{ code }, `about ${code}`]));
  expect(log.error).not.toHaveBeenCalled();
  report({ code: 'accelerator_retired', message: 'the card failed 3 times in a row' });
  expect(log.error.mock.calls).toEqual([
    [{ code: 'accelerator_retired' }, 'the card failed 3 times in a row'],
  ]);
});

it('readiness is ok on the CPU, and reports why the device is no longer used', async () => {
  const detail = 'WebAssembly, 2 threads; the card failed 3 times in a row: not used any more';
  const probe = createAcceleratorProbe({ ready: () => Promise.resolve({ kind: 'cpu', detail }) });
  expect(await probe()).toEqual({ ok: true, detail: { kind: 'cpu', message: detail } });
});
