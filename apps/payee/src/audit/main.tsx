/**
 * Starts the auditor's page. It has no account, stores nothing, and sends nothing but questions to the nodes that its reader names.
 *
 * @module
 */
import { render } from 'preact';
import { AuditView } from './audit-view.tsx';

const place = document.getElementById('page');
if (place !== null) {
  render(<AuditView />, place);
}
