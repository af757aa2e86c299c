import { createCustodianASigner } from '../custodian-a/custodian-a-signer.ts';
import { createWalletSigner } from '../custodian-a/wallet-signer.ts';
import { openCustodianAHarness } from '../fixtures/conformance/custodian-a-harness.ts';
import { describeSigner } from '../fixtures/conformance/describe-signer.ts';
import { requests } from '../fixtures/requests.ts';

const { fund, void: withdrawal, permit, approval, signIn, spend } = requests;

describeSigner('custodian_a of a funder', () =>
  openCustodianAHarness({
    createSigner: createCustodianASigner,
    requests: [fund, withdrawal, permit, approval, signIn],
  }),
);

describeSigner('custodian_a of a holder', () =>
  openCustodianAHarness({
    createSigner: (options) => createWalletSigner({ ...options, kinds: ['sign-in', 'spend'] }),
    requests: [spend, signIn],
  }),
);
