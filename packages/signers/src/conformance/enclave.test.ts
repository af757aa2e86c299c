import { openEnclaveHarness } from '../fixtures/conformance/enclave-harness.ts';
import { describeSigner } from '../fixtures/conformance/describe-signer.ts';

describeSigner('enclave', { kind: 'remote', open: openEnclaveHarness });
