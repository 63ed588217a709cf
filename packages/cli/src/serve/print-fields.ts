import { openService } from '@sluice/serve';
import type { Call } from '../console/command.ts';
import { fileOptions } from './one-process.ts';

/** Prints which fields of a proxy's request each table reads, and listens nowhere. */
export async function printFields(call: Call): Promise<void> {
  const service = await openService({ ...(await fileOptions(call)), everyMs: false });
  const fields = [...service.fieldsRead];
  await service.close();
  call.console.result({ fields: Object.fromEntries(fields) }, () =>
    fields.map(([name, read]) => `/check/${name}: ${read.join(' ') || 'none'}`),
  );
}
