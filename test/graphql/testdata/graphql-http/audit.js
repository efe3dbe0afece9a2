// Runs all audits of graphql-http against the address given and prints each that is not ok. The exit status is 0 where all are.
import { serverAudits } from 'graphql-http';

const audits = serverAudits({ url: process.argv[2] });
let failed = 0;
for (const audit of audits) {
  const result = await audit.fn();
  if (result.status !== 'ok') {
    failed++;
    console.log(result.status, result.id, result.name, '-', result.reason);
  }
}
console.log(`${audits.length - failed} of ${audits.length} audits are ok`);
process.exit(failed > 0 || audits.length < 61 ? 1 : 0);
