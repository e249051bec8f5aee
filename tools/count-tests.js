// Prints the outcome of a vitest run as one line, `N passed, N failed`, and ends as the run did. A run without tests, a
// missing report, or a failure outside of any test (a file that cannot be loaded or set up) is a failure, too.
// Plain JavaScript, because the machine's own Node runs it, which may be old.
import { readFileSync } from 'node:fs';

const [reportPath, status] = process.argv.slice(2);
const report = read(reportPath);
const passed = report.numPassedTests;
const brokenFiles = report.testResults.filter(
  (file) => file.status === 'failed' && !file.assertionResults.some((assertion) => assertion.status === 'failed'),
);
const outside = Number(status) !== 0 && report.numFailedTests === 0 && brokenFiles.length === 0 ? 1 : 0;
const failed = report.numFailedTests + brokenFiles.length + outside;

process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return { numPassedTests: 0, numFailedTests: 0, testResults: [] };
  }
}
