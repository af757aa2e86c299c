// Settlements of 256 that the platform and the chain accept: signed, with a proof, and with notes sealed to unused keys.
import { randomBytes } from 'node:crypto';
import type { SettlementRequest } from '@pool/api';
import {
  bytesToHex,
  computeAssetId,
  computeBatchId,
  computeFundAuthorizationData,
  fieldToHex,
  type Hex32,
  parseEvmAddress,
  parseField,
  parseHex32,
  reduceToField,
} from '@pool/core';
import {
  computeEncryptionPublicKey,
  computeFundPublicInputs,
  computeSealedNotesHash,
  createBatchArithmetic,
} from '@pool/notes';
import type { PlatformAlone } from '../../../apps/sandbox/src/stack/platform-alone.ts';
import type { TrapdoorKeys } from './trapdoor-keys.ts';

const slots = 256;
const total = 1000n;
function drawField() {
  return reduceToField(randomBytes(40));
}

export interface BatchMaker {
  make(): Promise<SettlementRequest>;
  close(): Promise<void>;
}

export async function createBatchMaker(
  platform: PlatformAlone,
  keys: TrapdoorKeys,
): Promise<BatchMaker> {
  const arithmetic = await createBatchArithmetic({ threads: 1 });
  const { settings, funder, chain } = platform;
  const token = parseEvmAddress(settings.tokens['USDC']?.address);
  const funderAddress = parseEvmAddress(funder.address);
  const eligibilityRoot = parseField(platform.eligibilityRoot);
  const encryptionPublicKeys = Array.from({ length: slots }, (_, slot) =>
    computeEncryptionPublicKey(BigInt(slot + 5) ** 20n),
  );
  return {
    async make() {
      const commitments = encryptionPublicKeys.map(drawField);
      const sealedNotes = encryptionPublicKeys.map((encryptionPublicKey) => ({
        encryptionPublicKey,
        sealed: bytesToHex(Uint8Array.from([1, ...randomBytes(208)])),
      }));
      const batchRoot = await arithmetic.computeBatchRoot(commitments);
      const batchNonce = drawField();
      const { digest, z, y } = computeFundPublicInputs({
        assetId: computeAssetId(settings.chainId, settings.pool, token),
        total,
        batchId: computeBatchId(funderAddress, batchNonce),
        eligibilityRoot,
        batchRoot,
        commitments,
      });
      const sealedNotesHash = computeSealedNotesHash(sealedNotes.map(({ sealed }) => sealed));
      const deadline = Math.floor(Date.now() / 1000) + 3600;
      const funderSignature = await funder.sign(
        computeFundAuthorizationData(settings.chainId, settings.pool, {
          funder: funderAddress,
          token,
          total,
          batchRoot,
          batchNonce,
          sealedNotesHash,
          deadline: BigInt(deadline),
        }),
      );
      const { a, b, c } = await keys.prove([digest, z, y]);
      const pair = ([first, second]: readonly [string, string]): [Hex32, Hex32] => [
        parseHex32(first),
        parseHex32(second),
      ];
      return {
        chain,
        batch: {
          funder: funder.address,
          token,
          total: total.toString(),
          batchNonce: fieldToHex(batchNonce),
          eligibilityRoot: fieldToHex(eligibilityRoot),
          batchRoot: fieldToHex(batchRoot),
          commitments: commitments.map(fieldToHex),
          sealedNotesHash,
          digest: fieldToHex(digest),
          deadline,
        },
        proof: { a: pair(a), b: [pair(b[0]), pair(b[1])], c: pair(c) },
        funderSignature,
        sealedNotes,
      };
    },
    close: () => arithmetic.close(),
  };
}
