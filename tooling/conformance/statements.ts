// Every normative statement of the service contract, in its order.
import type { Section, Statement } from './statement.ts';
import { apiKeys, enrolment, identity, readiness } from './statements/accounts.ts';
import {
  cancelRoute,
  disburseRoute,
  healthRoutes,
  jobRoute,
  validateRoute,
} from './statements/agent-routes.ts';
import { authentication, capabilities, separation } from './statements/authentication.ts';
import { commands } from './statements/commands.ts';
import { sources, variables } from './statements/configuration.ts';
import { job, jobStates, report, request, result } from './statements/disbursement.ts';
import {
  disbursementErrors,
  jobFailures,
  limits,
  otherErrors,
  spendErrors,
} from './statements/errors.ts';
import { holderRoutes } from './statements/holder-routes.ts';
import { platformRoutes } from './statements/platform-routes.ts';
import { service } from './statements/service.ts';
import { signers } from './statements/signers.ts';

export const sections: readonly Section[] = [
  service,
  identity,
  enrolment,
  apiKeys,
  request,
  job,
  result,
  report,
  jobStates,
  readiness,
  disburseRoute,
  jobRoute,
  cancelRoute,
  validateRoute,
  healthRoutes,
  holderRoutes,
  platformRoutes,
  commands,
  authentication,
  capabilities,
  separation,
  sources,
  variables,
  signers,
  disbursementErrors,
  jobFailures,
  spendErrors,
  otherErrors,
  limits,
];

export const statements: readonly Statement[] = sections.flatMap((section) => section.statements);
