import { holderKinds } from '../custodian-a/custodian-a-holder.ts';
import { createCustodianASigner, createWalletSigner } from '../custodian-a/custodian-a-signer.ts';
import { openCustodianAHarness } from '../fixtures/conformance/custodian-a-harness.ts';
import { describeSigner } from '../fixtures/conformance/describe-signer.ts';
import { requests } from '../fixtures/requests.ts';

const { fund, void: withdrawal, permit, approval, signIn, spend, disclosure } = requests;

describeSigner('custodian_a of a funder', {
  kind: 'voted',
  open: () =>
    openCustodianAHarness({
      createSigner: createCustodianASigner,
      requests: [fund, withdrawal, permit, approval, signIn, disclosure],
    }),
});

describeSigner('custodian_a of a holder', {
  kind: 'voted',
  open: () =>
    openCustodianAHarness({
      createSigner: (options) => createWalletSigner(options, holderKinds),
      requests: [spend, signIn, disclosure],
    }),
});
