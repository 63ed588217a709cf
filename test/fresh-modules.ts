// Named in `setupFiles` of a project whose files share a worker: each file imports modules of its own, so that what one
// file leaves in a module does not reach the next.
import { vi } from 'vitest';

vi.resetModules();
