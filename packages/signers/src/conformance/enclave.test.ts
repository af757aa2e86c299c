import { describeSigner } from '../fixtures/conformance/describe-signer.ts';
import { openEnclaveHarness } from '../fixtures/conformance/enclave-harness.ts';

describeSigner('enclave', { kind: 'remote', open: openEnclaveHarness });
