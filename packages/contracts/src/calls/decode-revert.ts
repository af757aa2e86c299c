/**
 * Turns a reverted call into a stable code and an actionable sentence.
 *
 * @module
 */
import { batchSizesText, type ErrorBody, spendShapes } from '@pool/core';
import { Interface, type JsonFragment } from 'ethers';
import { eligibilityRegistryAbi } from '../generated/eligibility-registry.ts';
import { noteTreeAbi } from '../generated/note-tree.ts';
import { poolTestTokenAbi } from '../generated/pool-test-token.ts';
import { shieldedPoolAbi } from '../generated/shielded-pool.ts';
import { zeroFirstTestTokenAbi } from '../generated/zero-first-test-token.ts';

/** Sentence per custom error. Arguments are not repeated: they may contain foreign input. */
const sentences: Readonly<Record<string, string>> = {
  TokenNotEnabled: 'The pool does not accept this token. Ask the administrator to enable it.',
  NotAToken: 'There is no contract at the token address.',
  ZeroAddress: 'An address is missing.',
  NoCode: 'There is no contract at an address that was given for the registry or for a verifier.',
  InvalidVerifiers:
    'A pool needs one to four circuits of batches and as many of spends, each with commitments.',
  GracePeriodOutOfRange: 'The grace period must lie between 3,000 and 86,400 seconds.',
  TotalOutOfRange: 'The total must lie between 1 and 2^128 - 1 base units.',
  UnsupportedBatchSize: `A batch holds exactly ${batchSizesText} commitments.`,
  ZeroBatchRoot: 'The batch root is zero, which no batch has.',
  BatchNonceUsed: 'This batch is settled already. Do not submit it again.',
  BatchIsVoided: 'The funder voided this batch; it can never settle.',
  AuthorizationExpired: "The authorisation's deadline has passed.",
  EligibilityRootNotAccepted:
    'The registry does not accept the eligibility root of this proof. Prove again against the current root.',
  InvalidFunderSignature: 'The authorisation is not signed by the funder.',
  SignatureGasMissing:
    'The transaction has too little gas to ask the contract wallet. Send it with more gas.',
  InvalidProof: 'The proof does not hold for this call.',
  WrongAmountReceived:
    'The pool received a different amount than the total; tokens that charge a fee cannot be used.',
  TokenNotKnown: 'The pool has never accepted this token, so it holds no notes in it.',
  UnsupportedSpendSize: `A spend has ${Object.values(spendShapes)
    .map(({ inputs, outputs }) => `${inputs} nullifiers and ${outputs} commitments`)
    .join(', or ')}.`,
  WithdrawAmountOutOfRange: 'The withdrawn amount must be at most 2^128 - 1 base units.',
  InvalidRecipient:
    'A withdrawal needs a recipient other than the pool and the token; a transfer has none.',
  NullifierUsed: 'A note of this spend is spent already. Do not submit the spend again.',
  NullifierRepeated: 'The spend lists a nullifier twice.',
  NoteRootNotKnown:
    'The pool does not know the note root of this spend. Prove again against one that it knows.',
  WrongSealedNotesLength: 'The sealed notes must be 209 bytes for each output of the spend.',
  MaskedKeyOutOfRange: 'A coordinate of the masked key is not below the modulus of secp256k1.',
  WrongSlope: 'The slope does not belong to the masked key.',
  SpendSignatureOutOfRange: 'The signature or the masked digest of the spend is out of range.',
  InvalidSpendSignature: 'The spend is not signed by the wallet that the masked key hides.',
  WrongAmountSent:
    "The pool's balance fell by another amount than the withdrawal; this token cannot be withdrawn now.",
  FieldElementOutOfRange: 'A field element is not below the field modulus.',
  ZeroRoot: 'The note tree would get a zero root.',
  ZeroEligibilityRoot: 'The zero root cannot be published.',
  EligibilityRootOutOfRange: 'The eligibility root is not below the field modulus.',
  DevelopmentKeyOnPublicChain:
    'This verifier holds a development key and can only be deployed on chain 31337 or 1337.',
  EnforcedPause: 'Funding is paused by the guardian.',
  ExpectedPause: 'Funding is not paused.',
  AccessControlUnauthorizedAccount: 'The sender lacks the role this call needs.',
  AccessControlBadConfirmation: 'A role can only be renounced by its holder.',
  ReentrancyGuardReentrantCall: 'The call re-entered the pool.',
  SafeERC20FailedOperation: 'The token refused the transfer without giving a reason.',
  ERC20InsufficientAllowance: "The funder's allowance for the pool is smaller than the total.",
  ERC20InsufficientBalance: "The funder's token balance is smaller than the total.",
  InsufficientAllowance: "The funder's allowance for the pool is smaller than the total.",
  InsufficientBalance: "The funder's token balance is smaller than the total.",
  AllowanceMustBeZeroFirst: 'This token requires the allowance to be set to zero first.',
  ERC2612ExpiredSignature: 'The permit has expired.',
  ERC2612InvalidSigner: 'The permit is not signed by its owner.',
};

const errorFragments = [
  shieldedPoolAbi,
  eligibilityRegistryAbi,
  noteTreeAbi,
  poolTestTokenAbi,
  zeroFirstTestTokenAbi,
  // The errors of a library and of a verifier are missing from the ABI of the contract that calls it.
  [
    'error FieldElementOutOfRange()',
    'error SafeERC20FailedOperation(address token)',
    'error DevelopmentKeyOnPublicChain(uint256 chainId)',
  ],
].flatMap((abi: readonly (JsonFragment | string)[]) =>
  abi.filter((fragment) => typeof fragment === 'string' || fragment.type === 'error'),
);
const errorInterface = new Interface(errorFragments);

/**
 * Decodes whatever a failed call threw, or raw revert data, into `{code, message}`. The code is the custom
 * error's name in kebab case (`BatchNonceUsed` → `batch-nonce-used`); a plain `require` reason becomes
 * `reverted` with the reason in the message; `reverted` alone when nothing is known.
 */
export function decodeRevert(error: unknown): ErrorBody {
  const data = findRevertData(error);
  if (data === undefined) {
    return { code: 'reverted', message: 'The transaction reverted without giving a reason.' };
  }
  const parsed = errorInterface.parseError(data);
  if (parsed === null) {
    return { code: 'reverted', message: 'The transaction reverted with an unknown error.' };
  }
  if (parsed.name === 'Error') {
    const reason = String(parsed.args[0])
      .replaceAll(/[^\x20-\x7e]/g, '')
      .slice(0, 200);
    return { code: 'reverted', message: `The transaction reverted: ${reason}` };
  }
  if (parsed.name === 'Panic') {
    return { code: 'reverted', message: 'The transaction reverted on an internal check.' };
  }
  const code = parsed.name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '-')
    .toLowerCase();
  return { code, message: sentences[parsed.name] ?? `The contract refused the call: ${code}.` };
}

/** Revert data in the places where providers put it: the error itself, or what it wraps. */
function findRevertData(error: unknown, depth = 0): string | undefined {
  if (typeof error === 'string') return isRevertData(error) ? error : undefined;
  if (typeof error !== 'object' || error === null || depth > 5) return undefined;
  const fields = error as Readonly<Record<string, unknown>>;
  if (typeof fields['data'] === 'string' && isRevertData(fields['data'])) return fields['data'];
  for (const name of ['data', 'info', 'error', 'cause', 'originalError']) {
    const found = findRevertData(fields[name], depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function isRevertData(text: string): boolean {
  return /^0x(?:[0-9a-f]{2}){4,}$/i.test(text);
}
