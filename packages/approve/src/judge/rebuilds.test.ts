// A policy that is read again while a manifest is rebuilt: what was rebuilt for the earlier platform is not kept.
import { computeManifestDigest } from '@pool/core';
import { expect, it } from 'vitest';
import { rebuildFund } from '../fixtures/bodies.ts';
import { evidenceDomain, fundFile } from '../fixtures/payroll.ts';
import { createRebuilds } from './rebuilds.ts';

const earlier = { domain: 'earlier.example', uri: 'https://earlier.example' };

it('rebuilds again when the platform changes meanwhile', async () => {
  const file = fundFile();
  const digest = computeManifestDigest(file.manifest);
  let evidence = evidenceDomain;
  const rebuilds = createRebuilds({ readFile: () => file, evidence: () => evidence });
  const finding = rebuilds.find(digest);
  evidence = earlier;
  rebuilds.forget();
  // Nobody has signed in there.
  expect(await finding).toBeUndefined();
  evidence = evidenceDomain;
  rebuilds.forget();
  expect(await rebuilds.find(digest)).toMatchObject({ evidence: evidenceDomain });
});

it('keeps nothing of a platform that is not accepted any more', async () => {
  const file = fundFile();
  const digest = computeManifestDigest(file.manifest);
  const rebuilds = createRebuilds({ readFile: () => undefined, evidence: () => earlier });
  rebuilds.keep(rebuildFund(file));
  expect(await rebuilds.find(digest)).toBeUndefined();
});
