import { describeHolder } from '../fixtures/conformance/describe-holder.ts';
import {
  openCustodianAHolder,
  openEnclaveHolder,
  openLocalEd25519Holder,
  openLocalKeyHolder,
} from '../fixtures/conformance/holder-harnesses.ts';

describeHolder('local-key', { kind: 'local', open: openLocalKeyHolder });
describeHolder('local-ed25519', { kind: 'local', open: openLocalEd25519Holder });
describeHolder('enclave', { kind: 'remote', open: openEnclaveHolder });
describeHolder('custodian_a', { kind: 'remote', open: openCustodianAHolder });
