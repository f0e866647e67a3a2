// Host runs GPU scan kernels that it does not trust, and proves each right or wrong.
//
// A kernel is a plugin: a folder with a plugin.toml and what it builds from, run as a process of its own.
// Host builds it, gives it inputs that it cannot write and outputs between guard bands, and compares what it
// computes with a float64 reference within a bound that is derived, not chosen. A kernel that hangs,
// crashes, lies or cheats costs its own row and nothing else.
//
// On a machine with an NVIDIA GPU and nvcc kernels run on the GPU (backend cuda). On any other the same
// sources run on a simulated GPU (backend simt): slower, but it checks every load and store and explores
// schedules that no real GPU would show twice.
//
// # Running it
//
// In the repository the first run needs no set-up:
//
//	go run ./host run-all
//
// From then on use the tool, since go run folds every exit status to 1 and does not pass signals on; or
// build the command and put it on PATH:
//
//	go tool host run-all
//	go build -o bin/ ./host
//
// # Looking around
//
// What plugins are there, and what can this machine do? Neither question runs a plugin:
//
//	host list
//	host list --json
//	host doctor
//
// Plugins are found in plugins/ of the repository around the working directory, in every --plugin-dir (a
// plugin's folder, or a folder of such folders) and in SCANHOST_PLUGIN_PATH, a list like PATH. A folder
// without plugin.toml is none; one with a bad plugin.toml is reported and costs its own row; two of one name
// are an error, and so is a place that everybody may write to.
//
// # Judging
//
// Every kernel, or some, or one case of one:
//
//	host run-all --backend simt --plugin-dir p
//	host verify --backend simt --plugin-dir p --plugin faulty_none
//	host verify --backend simt --plugin-dir p --plugin faulty_none --case affine_scan:near1:rows=3:length=33:reverse+h0:fp32:seed=7
//
// There is a row for each kernel: operation, backend, how many cases passed, ran and were refused beforehand as
// unsupported, determinism (repeated launches compared bit for bit), the worst error in units of the bound,
// the time that judging took (not the kernel's speed), and the verdict. Then, for each failure, what was
// expected where, and the command that replays it. A case's name is its whole recipe and means the same on
// every machine; --schedule-seed adds the schedule of the simulated GPU.
//
// On a machine with several GPUs run-all and verify use all that CUDA_VISIBLE_DEVICES leaves, or those that --gpu
// names by number or UUID; a plugin sees only the one it runs on, and no other plugin runs there meanwhile. Rows
// name their GPU. One that fails gets no more work and the others go on; the exit status is then 2, and kernels
// that no GPU was left for are not-run. Two hosts on a machine take turns on each GPU.
//
// To look at a kernel under a tool, wrap its process; deadlines are then 20 times as long, or as
// --deadline-scale says (0: none):
//
//	host verify --plugin lookback --wrap "compute-sanitizer --tool memcheck"
//
// # Results
//
// run-all writes results/<gpu or simt>/run-all.json in the repository, and the text beside it; --results DIR
// says elsewhere. An interrupted run writes run-all.partial.json and leaves the last whole one alone. The JSON
// holds every case with its verdict, comparison, counters and replay command, the environment, and the hash of
// what each plugin was built from. Numbers that JSON lacks are the strings "NaN", "+Inf" and "-Inf".
// --json writes the same to standard output instead of the table. Progress goes to standard error: on a
// terminal a line that moves, else a line for each plugin. NO_COLOR is respected.
//
// # A kernel of one's own
//
//	host new mine --dir kernels
//	host verify --backend simt --plugin-dir kernels --plugin mine
//
// The first writes a folder that builds and passes at once; edit its kernel.cu. Without --dir it goes to
// plugins/ of the repository. Nothing else has to be edited anywhere.
//
// # Data of one's own
//
//	host scan --backend simt --plugin-dir p --plugin faulty_none --a a.npy --b b.npy -o h.npy
//
// computes on .npy or .npz files and says how far the result is from the float64 reference. Bad input is
// refused in one sentence before anything is allocated or written; a result outside the bound is not written.
//
// # Benchmarks
//
// bench (see host bench --help) times kernels against each other on a GPU, and shows the traffic model's times
// where there is none. Its results can be shown again, held to a list of bars, and compared, on any machine:
//
//	host report h.json --spec good.toml
//	host compare old.json new.json
//
// How times are made, and what they can be trusted for, is in docs/methodology.md. compare exits 1 if anything
// got slower, report if a bar fails.
//
// # Exit status
//
//	0  all that ran passed
//	1  some kernel failed (or, with build, did not build)
//	2  usage or environment: a mistake is one sentence on standard error; a GPU that stopped working
//	3  interrupted by SIGINT or SIGTERM; what was finished is reported and kept
//
// A second signal kills every plugin at once and exits.
//
// # How it is put together
//
// main.go lists the commands and maps errors to exit statuses, once. Each command is one file: constructor,
// options, flags, run. judging.go is what run-all and verify share; gpus.go is which GPUs they take. The work is in internal: discover finds and
// builds, launch keeps one process in check, buffers holds arrays, judge runs cases, report shows results.
package main
