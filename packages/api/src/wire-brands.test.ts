import type * as core from '@pool/core';
import { expectTypeOf, it } from 'vitest';
import type * as settlements from './edge/settlements.ts';

it('gives values their brands', () => {
  expectTypeOf<settlements.SettlementRequest['batch']['batchNonce']>().toEqualTypeOf<core.Hex32>();
  expectTypeOf<NonNullable<settlements.SettlementRecord['txHash']>>().toEqualTypeOf<core.Hex32>();
  expectTypeOf<
    settlements.SettlementRequest['sealedNotes'][number]['encryptionPublicKey']
  >().toEqualTypeOf<core.EncryptionPublicKey>();
});
