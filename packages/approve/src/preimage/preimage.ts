/**
 * What a custodian is about to sign, read strictly from its own preimage. Nothing of the agent's description is used: the digest is
 * computed from the values that are parsed here, and a field, a type or a number in any unexpected form is a refusal.
 *
 * @module
 */
import type {
  DisclosureStatement,
  EvmAddress,
  Field,
  FundAuthorization,
  Hex,
  Hex32,
  PermitRequest,
  TypedData,
} from '@pool/core';

/** A document of one of the forms that a funder or holder ever signs. */
export type Preimage =
  | {
      readonly kind: 'fund-authorization';
      readonly chainId: number;
      readonly pool: EvmAddress;
      readonly authorization: FundAuthorization;
    }
  | {
      readonly kind: 'void';
      readonly chainId: number;
      readonly pool: EvmAddress;
      readonly funder: EvmAddress;
      readonly batchNonce: Field;
    }
  | {
      readonly kind: 'permit';
      readonly domain: TypedData['domain'];
      readonly permit: PermitRequest;
    }
  /** The payments that are disclosed are in it by their digest only. */
  | { readonly kind: 'disclosure'; readonly statement: DisclosureStatement }
  /** EIP-191 text. */
  | { readonly kind: 'text'; readonly text: string }
  /** An unsigned EVM transaction, serialised. */
  | { readonly kind: 'transaction'; readonly unsignedTransaction: Hex }
  /** A contract call that the custodian builds itself, once it is built. */
  | { readonly kind: 'built-call'; readonly unsignedTransaction: Hex }
  /** The same before: the custodian chooses nonce and fees later. */
  | {
      readonly kind: 'call';
      readonly chainId: number;
      readonly to: EvmAddress;
      readonly data: Hex;
    }
  /** 32 bytes of unknown meaning. They count only if they are the digest of a stored spend. */
  | { readonly kind: 'hash'; readonly digest: Hex32 }
  /** The digest of a typed message without its content. It counts only if a stored batch has it. */
  | { readonly kind: 'stored'; readonly digest: Hex32 };

/** A preimage, or why it is none that is ever approved. The message repeats nothing of the request. */
export type Reading =
  | { readonly kind: 'preimage'; readonly preimage: Preimage }
  | { readonly kind: 'foreign'; readonly message: string };

export function foreign(message: string): Reading {
  return { kind: 'foreign', message };
}
