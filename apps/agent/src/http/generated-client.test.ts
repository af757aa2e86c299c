/** Clients whose types a public generator makes from the documents: they compile, and one pays with this agent. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { agentApi, createOpenApi, edgeApi, gateApi, platformApi } from '@pool/api';
import createClient from 'openapi-fetch';
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';
import ts from 'typescript';
import { expect, it, onTestFinished } from 'vitest';
import { createTestApp, loopbackToken } from '../fixtures/test-app.ts';

/** As a user writes it. Each line after `@ts-expect-error` is one that the types must refuse. */
const program = `
import type createClient from 'openapi-fetch';
import type { components, paths } from './agent';

export async function pay(client: ReturnType<typeof createClient<paths>>, body: components['schemas']['DisburseRequest']) {
  const params = { header: { 'Idempotency-Key': 'june' } };
  const paid = await client.POST('/api/disburse', { params, body });
  const job = await client.GET('/api/disburse/{key}', { params: { path: { key: 'june' } } });
  const other = await client.POST('/api/disburse', { params, body: { ...body, unregistered: 'skip' } });
  const state: 'accepted' | 'submitted' | 'done' | 'failed' | undefined = job.data?.state;
  const isConflict: boolean = other.error?.code === 'idempotency_conflict';
  // @ts-expect-error there is no such code
  other.error?.code === 'no_such_code';
  // @ts-expect-error the key of the payment is missing
  () => client.POST('/api/disburse', { body });
  // @ts-expect-error an amount is text
  () => client.POST('/api/disburse', { params, body: { ...body, recipients: [{ recipientAddress: 'W', amount: 1 }] } });
  return [paid.data?.state, state, isConflict];
}
`;

type Program = {
  readonly pay: (client: object, body: unknown) => Promise<readonly unknown[]>;
};

it('pays by a program that compiles, under the strict rules, with types made from the documents', {
  timeout: 180_000,
}, async () => {
  // Inside the package, so that the program finds openapi-fetch.
  const folder = mkdtempSync(join(import.meta.dirname, 'generated-'));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  const file = join(folder, 'program.ts');
  writeFileSync(file, program);
  const documents = [agentApi, edgeApi, gateApi, platformApi].map(async (api) => {
    const types = join(folder, `${api.name}.d.ts`);
    writeFileSync(
      types,
      astToString(await openapiTypes(createOpenApi(api) as unknown as OpenAPI3)),
    );
    return types;
  });
  const compiled = ts.createProgram([file, ...(await Promise.all(documents))], {
    ...{ strict: true, exactOptionalPropertyTypes: true, noEmit: true, types: [] },
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  });
  const complaints = ts.getPreEmitDiagnostics(compiled).map(({ messageText }) => messageText);
  expect(complaints).toEqual([]);

  const { pay } = (await import(file)) as Program;
  const { app, request } = createTestApp();
  const client = createClient({
    baseUrl: 'http://127.0.0.1:8787',
    headers: { authorization: `Bearer ${loopbackToken}` },
    fetch: async (sent) => await app.request(sent),
  });
  expect(await pay(client, request)).toEqual(['accepted', 'accepted', true]);
});
