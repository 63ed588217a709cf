// Named in `setupFiles` of a project whose files share a worker: each file imports modules of its own, so that what one
// file leaves in a module does not reach the next.
import { statSync } from 'node:fs';
import { vi } from 'vitest';

vi.resetModules();
// When the last file that was looked at is a socket, Node 20 follows no links to modules (nodejs/node#51142).
statSync('.');
