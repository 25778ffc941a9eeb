-- One request, again and again, each answer checked. For wrk -s request.lua URL -- BODY USER-PASSWORD-BASE64 EXPECT
-- An answer is bad when its status is not 200 or EXPECT is not in its body. Every SAMPLE-th body is kept, and the kept
-- ones are printed after the figures.

local SAMPLE = 500
local SAMPLES_MAX = 20

local threads = {}

function setup(thread)
    table.insert(threads, thread)
end

function init(args)
    wrk.method = "POST"
    wrk.body = args[1]
    wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
    wrk.headers["Authorization"] = "Basic " .. args[2]
    expect = args[3]
    answers, bad, samples = 0, 0, ""
    kept = 0
end

function response(status, headers, body)
    answers = answers + 1
    if status ~= 200 or not body:find(expect, 1, true) then
        bad = bad + 1
    elseif answers % SAMPLE == 1 and kept < SAMPLES_MAX then
        kept = kept + 1
        samples = samples .. body .. "\n"
    end
end

function done(summary, latency, requests)
    local wrong, errors = 0, summary.errors
    for _, thread in ipairs(threads) do
        wrong = wrong + thread:get("bad")
    end
    io.write(string.format("requests=%d us=%d p50=%d p99=%d bad=%d\n", summary.requests, summary.duration,
        latency:percentile(50), latency:percentile(99),
        wrong + errors.connect + errors.read + errors.write + errors.timeout))
    for _, thread in ipairs(threads) do
        io.write(thread:get("samples"))
    end
end
