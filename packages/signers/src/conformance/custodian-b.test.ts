import { openCustodianBHarness } from '../fixtures/conformance/custodian-b-harness.ts';
import { describeSigner } from '../fixtures/conformance/describe-signer.ts';

describeSigner('custodian_b of a funder', { kind: 'voted', open: openCustodianBHarness });
