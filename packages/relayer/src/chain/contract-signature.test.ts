/** Answers of contracts on a real chain about a signature, and failures of their RPC. */
import {
  type ContractVerdict,
  checkContractSignature,
  computeFunderQuestionGas,
  erc1271Gas,
  signInQuestionGas as gas,
} from '@pool/contracts';
import {
  type EvmAddress,
  type EvmChainSettings,
  type Hex,
  isPoolError,
  parseEvmAddress,
  parseHex,
  parseHex32,
} from '@pool/core';
import { createEvmProvider } from '@pool/evm-sender';
import { type Anvil, anvilMnemonic, startAnvil } from '@pool/testkit';
import { HDNodeWallet, hashMessage, type JsonRpcProvider, NonceManager, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createBurningCode, deployOwnedWallet, strangeCode } from '../../test/contract-wallet.ts';
import { type StubAnswer, startStubRpc } from '../../test/stub-rpc.ts';
import { testSettings } from '../../test/test-settings.ts';

const text = 'a text';
const digest = parseHex32(hashMessage(text));
const owner = new Wallet(`0x${'21'.repeat(32)}`);
const stranger = new Wallet(`0x${'22'.repeat(32)}`);

describe('a contract’s answer about a signature', () => {
  let anvil: Anvil;
  let settings: EvmChainSettings;
  let provider: JsonRpcProvider;
  let wallet: EvmAddress;
  let signature: Hex;

  beforeAll(async () => {
    anvil = await startAnvil();
    settings = { ...testSettings, rpcUrl: anvil.rpcUrl };
    provider = createEvmProvider(settings);
    const deployer = new NonceManager(HDNodeWallet.fromPhrase(anvilMnemonic).connect(provider));
    wallet = await deployOwnedWallet(deployer, owner.address);
    signature = parseHex(await owner.signMessage(text));
  });
  afterAll(async () => {
    provider.destroy();
    await anvil.stop();
  });

  async function ask(address: EvmAddress, said: Hex = signature): Promise<ContractVerdict> {
    const subject = { address, digest, signature: said };
    return await checkContractSignature(provider, settings, subject, { timeoutMs: 5_000, gas });
  }
  async function place(code: string): Promise<EvmAddress> {
    const address = parseEvmAddress(Wallet.createRandom().address);
    await provider.send('anvil_setCode', [address, code]);
    return address;
  }

  it('is valid for its owner’s signature of this text, and for no other', async () => {
    expect(await ask(wallet)).toBe('valid');
    expect(await ask(wallet, parseHex(await stranger.signMessage(text)))).toBe('invalid');
    expect(await ask(wallet, parseHex(await owner.signMessage('another text')))).toBe('invalid');
    expect(await ask(wallet, '0x')).toBe('invalid');
  });

  it('is no-contract without code, and delegated-account for an account that borrows code', async () => {
    expect(await ask(parseEvmAddress(owner.address))).toBe('no-contract');
    expect(await ask(parseEvmAddress('0x0000000000000000000000000000000000000004'))).toBe(
      'no-contract',
    );
    const delegated = await place(`0xef0100${wallet.slice(2).toLowerCase()}`);
    expect(await ask(delegated)).toBe('delegated-account');
  });

  it('may consent without reading the signature', async () => {
    expect(await ask(await place(strangeCode.consents), '0x')).toBe('valid');
    expect(await ask(await place(strangeCode.consents), `0x${'ab'.repeat(4096)}`)).toBe('valid');
  });

  describe('asked as the pool asks the contract of a funder', () => {
    /** Consents to one caller only. */
    const consentsTo = (caller: string) =>
      `0x73${caller.slice(2).toLowerCase()}3314601d575f5ffd5b${strangeCode.consents.slice(2)}`;
    const askAsPool = async (address: EvmAddress, said: Hex = signature) => {
      const subject = { address, digest, signature: said };
      return await checkContractSignature(provider, settings, subject, {
        timeoutMs: 5_000,
        gas: computeFunderQuestionGas(subject),
        from: settings.pool,
        asksDelegated: true,
      });
    };

    it('sees the pool as its caller', async () => {
      const picky = await place(consentsTo(settings.pool));
      expect(await askAsPool(picky)).toBe('valid');
      expect(await ask(picky)).toBe('invalid');
    });

    it('answers also for an account that borrows code', async () => {
      const delegated = await place(`0xef0100${wallet.slice(2).toLowerCase()}`);
      expect(await askAsPool(delegated)).toBe('valid');
    });

    it.each([65, 1024])(
      'gets the gas that the pool gives, with a signature of %i bytes',
      async (bytes) => {
        const said = `0x${'ab'.repeat(bytes)}` as const;
        const allowed = Number(erc1271Gas);
        expect(await askAsPool(await place(createBurningCode(allowed - 1_000)), said)).toBe(
          'valid',
        );
        // Slightly more. The call itself uses most of the difference.
        expect(computeFunderQuestionGas({ signature: said }) - allowed).toBeLessThan(42_000);
      },
    );
  });

  it.each([
    'answersTrue',
    'echoes',
    'answersFourBytes',
    'answersNothing',
    'reverts',
    'revertsWithConsent',
    'neverEnds',
    'isNoCode',
  ] as const)('is not consent from code that %s', async (kind) => {
    expect(await ask(await place(strangeCode[kind]))).toBe('invalid');
  });

  describe('when the RPC', () => {
    let asked: Awaited<ReturnType<typeof startStubRpc>>['asked'];

    async function askThrough(
      answer: StubAnswer,
      timeoutMs = 5_000,
    ): Promise<ContractVerdict | string> {
      const rpc = await startStubRpc(answer);
      asked = rpc.asked;
      const through = { ...settings, rpcUrl: rpc.rpcUrl };
      const connection = createEvmProvider(through, 600_000);
      const subject = { address: wallet, digest, signature };
      try {
        return await checkContractSignature(connection, through, subject, { timeoutMs, gas });
      } catch (error) {
        if (!isPoolError(error)) throw error;
        return `${error.status} ${error.code} ${error.retryable}`;
      } finally {
        connection.destroy();
        rpc.stop();
      }
    }
    const chainId = { result: '0x7a69' };
    const code = { result: '0x60' };
    const silence = '503 chain_unreachable true';
    const answers =
      (call: object | undefined): StubAnswer =>
      (method) =>
        method === 'eth_chainId' ? chainId : method === 'eth_getCode' ? code : call;

    it('does not answer, the result is 503 within the time limit', async () => {
      expect(await askThrough(() => undefined, 150)).toBe(silence);
      // Longer where the time was over before the contract was asked.
      for (let ms = 150; ; ms *= 4) {
        expect(await askThrough(answers(undefined), ms)).toBe(silence);
        if (asked.some(({ method }) => method === 'eth_call')) break;
      }
    });

    it('runs the contract, the call has a gas limit', async () => {
      await askThrough(answers({ result: '0x' }));
      const { params } = asked.find(({ method }) => method === 'eth_call') ?? {};
      const call = { to: wallet, gas: '0x2dc6c0', data: expect.stringMatching(/^0x1626ba7e/) };
      expect(params).toEqual([call, 'latest']);
    });

    it('is busy, that does not count as a refusal by the contract', async () => {
      const busy = { error: { code: -32005, message: 'request limit reached' } };
      expect(await askThrough(answers(busy))).toBe(silence);
      expect(await askThrough(() => busy)).toBe(silence);
    });

    it.each([
      ['a revert with data', { code: 3, message: 'execution reverted', data: '0x' }],
      ['a revert without data', { code: -32000, message: 'execution reverted' }],
      ['spent gas', { code: -32000, message: 'out of gas' }],
      ['a bad instruction', { code: -32000, message: 'invalid opcode: INVALID' }],
      ['a failure of another node', { code: -32015, message: 'VM execution error.' }],
    ])('reports %s, that counts as a refusal by the contract', async (_name, error) => {
      expect(await askThrough(answers({ error }))).toBe('invalid');
    });

    it('serves another chain or nonsense, the result is 503', async () => {
      const consent = { result: `0x1626ba7e${'0'.repeat(56)}` };
      expect(await askThrough(answers(consent))).toBe('valid');
      const elsewhere: StubAnswer = (method) =>
        method === 'eth_chainId' ? { result: '0x1' } : answers(consent)(method);
      expect(await askThrough(elsewhere)).toBe(silence);
      for (const nonsense of [7, null, 'code', { code: '0x' }]) {
        const broken: StubAnswer = (method) =>
          method === 'eth_getCode' ? { result: nonsense } : answers(consent)(method);
        expect(await askThrough(broken)).toBe(silence);
      }
      expect(await askThrough(answers({ result: 7 }))).toBe(silence);
    });
  });
});
