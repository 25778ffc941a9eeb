// Test Anything Protocol, so that a script's tests are read like all others.
let count = 0, failed = 0;

export function ok(condition, name, detail) {
    count++;
    if (!condition) failed++;
    console.log(`${condition ? 'ok' : 'not ok'} ${count} - ${name.replaceAll('#', '\\#')}`);
    if (!condition && detail !== undefined) console.log(`# ${JSON.stringify(detail)}`);
    return condition;
}

export const is = (got, want, name) => ok(JSON.stringify(got) === JSON.stringify(want), name, { got, want });

// The code must fail, with a message or code that fits.
export async function fails(code, pattern, name) {
    try {
        await code();
    } catch (error) {
        const text = [error.code, error.error, error.message, error.cause?.error, JSON.stringify(error.cause ?? '')].join(' ');
        return ok(pattern.test(text), name, text);
    }
    return ok(false, name, 'nothing failed');
}

// Runs the tests; what they throw is a failure.
export async function run(code) {
    try {
        await code();
    } catch (error) {
        ok(false, `no exception: ${error.stack ?? error}`.replaceAll('\n', ' '), error.cause && String(error.cause.stack ?? JSON.stringify(error.cause)));
    }
    console.log(`1..${count}`);
    process.exit(failed ? 1 : 0);
}
