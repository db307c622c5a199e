// Renders a Helm chart as Helm does: Go's text/template with the functions of Masterminds/sprig and those of Helm's own that the chart
// uses. Debian has no package of Helm, but of both of these. On standard input: {"chart": FOLDER, "values": …, "release": …,
// "chartInfo": …, "apis": […]}, all as JSON; on standard output: the documents.
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

type files struct{ folder string }

func (f files) Get(name string) string {
	content, err := os.ReadFile(filepath.Join(f.folder, name))
	if err != nil {
		return "" // as Helm does
	}
	return string(content)
}

type apis []string

func (a apis) Has(wanted string) bool {
	for _, one := range a {
		if one == wanted {
			return true
		}
	}
	return false
}

type request struct {
	Chart     string                 `json:"chart"`
	Values    map[string]interface{} `json:"values"`
	Release   map[string]interface{} `json:"release"`
	ChartInfo map[string]interface{} `json:"chartInfo"`
	APIs      apis                   `json:"apis"`
}

func main() {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	all := template.New("chart").Option("missingkey=error")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	all.Funcs(functions)
	names, err := filepath.Glob(filepath.Join(asked.Chart, "templates", "*"))
	if err != nil {
		fail(err)
	}
	sort.Strings(names)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			fail(err)
		}
		if _, err := all.New(filepath.Base(name)).Parse(string(content)); err != nil {
			fail(err)
		}
	}
	data := map[string]interface{}{"Values": asked.Values, "Release": asked.Release, "Chart": asked.ChartInfo,
		"Files": files{asked.Chart}, "Capabilities": map[string]interface{}{"APIVersions": asked.APIs}}
	for _, name := range names {
		if strings.HasPrefix(filepath.Base(name), "_") {
			continue
		}
		fmt.Println("---")
		if err := all.ExecuteTemplate(os.Stdout, filepath.Base(name), data); err != nil {
			fail(err)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
