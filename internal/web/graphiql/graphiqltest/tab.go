// Package graphiqltest drives the GraphiQL page in a real browser, for tests of this page and of
// servers that mount it.
package graphiqltest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// stepTimeout limits one step. On two busy cores the slowest one, starting the browser, takes a few
// seconds.
const stepTimeout = 3 * time.Minute

// A Tab is a browser tab that can access one server only and records the problems that occur in it.
type Tab struct {
	// Context is the context for chromedp. It ends with the test.
	Context context.Context

	host string // with the port

	mu       sync.Mutex
	problems []string
	loaded   []string
}

// Open opens a tab with an empty profile. The tab can access no host except that of baseURL. Tabs
// of servers at 127.0.0.1 share one browser process, because starting one takes seconds; it ends
// with [Main]. With flags, the tab has a browser of its own. The browser is /usr/bin/chromium, or
// the one that MESHYARD_TEST_CHROMIUM names; the test fails if it is missing.
func Open(t testing.TB, baseURL string, flags ...chromedp.ExecAllocatorOption) *Tab {
	t.Helper()
	base, err := url.Parse(baseURL)
	if err != nil {
		t.Fatalf("base URL %q: %v", baseURL, err)
	}
	var ctx context.Context
	if base.Hostname() == sharedHost && len(flags) == 0 {
		browser, err := shared()
		if err != nil {
			t.Fatal(err)
		}
		var closeTab func()
		ctx, closeTab = chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
		t.Cleanup(closeTab)
	} else {
		var stop func()
		ctx, stop = start(t.TempDir(), base.Hostname(), flags...)
		t.Cleanup(stop) // before the profile is removed
	}
	tab := &Tab{Context: ctx, host: base.Host}
	if err := chromedp.Listen(ctx, tab.observe); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	Call(t, tab, "watch the network", network.Enable, network.EnableParams{})
	Call(t, tab, "watch the log", log.Enable, cdp.Empty{})
	return tab
}

// start prepares a browser, which starts at the first step of ctx. stop ends it.
func start(profile, host string, more ...chromedp.ExecAllocatorOption) (ctx context.Context, stop func()) {
	browser := os.Getenv("MESHYARD_TEST_CHROMIUM")
	if browser == "" {
		browser = "/usr/bin/chromium"
	}
	flags := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(browser),
		chromedp.UserDataDir(profile),
		chromedp.NoSandbox, // Chromium has no sandbox as root and in containers
		chromedp.DisableGPU,
		// These render WebGL without a graphics card.
		chromedp.Flag("use-angle", "swiftshader"), chromedp.Flag("enable-unsafe-swiftshader", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("host-resolver-rules", "MAP * ~NOTFOUND , EXCLUDE "+host),
		chromedp.WindowSize(1400, 900),
	)
	allocator, end := chromedp.NewExecAllocator(context.Background(), append(flags, more...)...)
	ctx, closeTab := chromedp.NewContext(allocator)
	return ctx, func() {
		ctx, cancel := context.WithTimeout(ctx, stepTimeout)
		defer cancel()
		_ = chromedp.Cancel(ctx) // otherwise end kills it
		closeTab()
		end()
	}
}

// sharedHost is the host that the shared browser can access.
const sharedHost = "127.0.0.1"

// endShared ends the shared browser, if it was started, and removes its profile.
var endShared = func() {}

// shared returns the context of the shared browser. It starts the browser at the first call.
var shared = sync.OnceValues(func() (context.Context, error) {
	profile, err := os.MkdirTemp("", "meshyard-browser-")
	if err != nil {
		return nil, err
	}
	ctx, stop := start(profile, sharedHost)
	endShared = func() {
		stop()
		_ = os.RemoveAll(profile)
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[int](`1`)); err != nil {
		return nil, fmt.Errorf("start the browser: %w", err)
	}
	return ctx, nil
})

// Main runs the tests of a package whose tests call [Open], and returns the exit status.
func Main(m *testing.M) int {
	defer func() { endShared() }()
	return m.Run()
}

// Do runs the steps in order and ends the test if one fails. doing describes their purpose. The
// failure message contains the text of the page.
func (tab *Tab) Do(t testing.TB, doing string, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	Run(t, tab, doing, chromedp.Steps(steps...))
}

// Click waits until the page has an element for the selector and clicks it. Unlike chromedp.Click,
// it sends no mouse event, because Chromium drops mouse events until a new page has been painted.
func (tab *Tab) Click(t testing.TB, doing, selector string) {
	t.Helper()
	tab.Await(t, doing, fmt.Sprintf(`(() => {
		const element = document.querySelector(%q);
		element?.click();
		return element;
	})()`, selector))
}

// Await waits until the JavaScript expression is true.
func (tab *Tab) Await(t testing.TB, doing, expression string) {
	t.Helper()
	tab.Do(t, doing, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		// chromedp.Poll compiles code inside the page, which the policy of the page forbids.
		// Evaluation from outside is not affected.
		for {
			ok, err := chromedp.Evaluate[bool](`Boolean(`+expression+`)`)(ctx, target)
			if err != nil && strings.Contains(err.Error(), "navigated") {
				ok, err = false, nil // the next page may be the one to wait for
			}
			if err != nil || ok {
				return err
			}
			if _, err := chromedp.Sleep(50*time.Millisecond)(ctx, target); err != nil {
				return err
			}
		}
	}))
}

// Run runs one step and returns its result. It is [Tab.Do] for a step with a result.
func Run[T any](t testing.TB, tab *Tab, doing string, step chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab.Context, stepTimeout)
	defer cancel()
	result, err := chromedp.Run(ctx, step)
	if err != nil {
		tab.fail(t, doing, err)
	}
	return result
}

// Call sends one command of the DevTools protocol.
func Call[P, R any](t testing.TB, tab *Tab, doing string, command cdp.Command[P, R], params P) R {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab.Context, stepTimeout)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		tab.fail(t, doing, err)
	}
	return result
}

// Read evaluates a JavaScript expression in the page.
func Read[T any](t testing.TB, tab *Tab, doing, expression string) T {
	t.Helper()
	return Run(t, tab, doing, chromedp.Evaluate[T](expression))
}

func (tab *Tab) fail(t testing.TB, doing string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(tab.Context, 5*time.Second)
	defer cancel()
	text, readErr := chromedp.Run(ctx, chromedp.Evaluate[string](`document.body.innerText`))
	if readErr != nil {
		text = "(unreadable: " + readErr.Error() + ")"
	}
	t.Fatalf("%s: %v\nproblems: %q\nthe page shows:\n%s", doing, err, tab.Problems(), text)
}

// Problems returns the problems so far: violations of the Content-Security-Policy, requests to
// other hosts, failed requests, errors in the console and uncaught exceptions.
func (tab *Tab) Problems() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.problems)
}

// AwaitProblem waits for a problem that contains want.
func (tab *Tab) AwaitProblem(t testing.TB, want string) {
	t.Helper()
	for deadline := time.Now().Add(stepTimeout); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if slices.ContainsFunc(tab.Problems(), func(p string) bool { return strings.Contains(p, want) }) {
			return
		}
	}
	t.Errorf("got problems %q, want one with %q", tab.Problems(), want)
}

// Loaded returns the URLs that the page has requested.
func (tab *Tab) Loaded() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return slices.Clone(tab.loaded)
}

// observe runs on the goroutine that reads from the browser and must not wait for the browser.
func (tab *Tab) observe(event any) {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	problem := func(format string, args ...any) { tab.problems = append(tab.problems, fmt.Sprintf(format, args...)) }
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		address, err := url.Parse(e.Request.URL)
		if err != nil || address.Host != tab.host && address.Scheme != "data" && address.Scheme != "blob" {
			problem("request to another host: %s", e.Request.URL)
		}
		tab.loaded = append(tab.loaded, e.Request.URL)
	case *network.EventLoadingFailed:
		if !e.Canceled {
			problem("request failed: %s %s %s", e.Type, e.ErrorText, e.BlockedReason)
		}
	case *log.EventEntryAdded:
		// Violations of the policy are reported here, with the source "security".
		if e.Entry.Level == log.EntryLevelError || e.Entry.Source == log.EntrySourceSecurity {
			problem("browser log: %s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeAssert {
			var words []string
			for _, arg := range e.Args {
				words = append(words, string(arg.Value)+arg.Description)
			}
			problem("console: %s", strings.Join(words, " "))
		}
	case *runtime.EventExceptionThrown:
		text := e.ExceptionDetails.Text
		if thrown := e.ExceptionDetails.Exception; thrown != nil {
			text += " " + thrown.Description
		}
		problem("exception: %s", text)
	}
}
