package things_test

import (
	"fmt"
	"testing"

	"github.com/meshyard/meshyard/test/servertest"
)

type licensed struct {
	Thing struct {
		License     string
		LicenseInfo struct{ SpdxID, Name, URL string }
		Origin      *struct {
			Creator, CreatorURL, URL, Site string
			ImportedAt                     *string
		}
	}
}

const licenseOf = `query ($id: ID!) { thing(id: $id) { license licenseInfo { spdxId name url } origin { creator creatorUrl url site importedAt } } }`

// TestLicenses checks that a thing has any license of SPDX, that old clients read and write it as a
// code without it becoming another one, and that an identifier that is not known is refused.
func TestLicenses(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		id := ada.Thing("Gear")
		set := func(input servertest.Object) *servertest.Result {
			input["id"] = servertest.ID(id)
			return ada.GraphQL(`mutation ($input: UpdateThingInput!) { updateThing(input: $input) { thing { id } } }`,
				servertest.Object{"input": input})
		}
		for _, c := range []struct{ spdx, enum, rest string }{
			{"CC-BY-NC-SA-3.0", "CC_NC_SA", "Creative Commons - Attribution - Non-Commercial - Share Alike"},
			{"MIT", "BSD", "BSD License"},
			{"CERN-OHL-S-2.0", "OTHER", "CERN Open Hardware Licence 2, Strongly Reciprocal"},
			{"LicenseRef-Standard-Digital-File", "OTHER", "Standard digital file license"},
			{"LicenseRef-Unknown", "OTHER", "Unknown: ask the creator"},
		} {
			want := func(when string) {
				t.Helper()
				var v licensed
				ada.Query(licenseOf, servertest.Object{"id": servertest.ID(id)}, &v)
				if v.Thing.LicenseInfo.SpdxID != c.spdx || v.Thing.License != c.enum {
					t.Errorf("%s: got %+v, want %+v", when, v.Thing, c)
				}
				if got := servertest.ReadObject(t, ada.Get(fmt.Sprint("/things/", id)))["license"]; got != c.rest {
					t.Errorf("%s: REST has %q, want %q", when, got, c.rest)
				}
			}
			if r := set(servertest.Object{"licenseId": c.spdx}); r.Code() != "" {
				t.Fatalf("%s: %s", c.spdx, r.Code())
			}
			want("set")
			if c.enum != "OTHER" { // old clients write back what they have read
				ada.Do("PATCH", fmt.Sprint("/things/", id), servertest.Object{"license": c.rest}).Want(t, 200)
				want("written back by REST")
			}
			set(servertest.Object{"license": c.enum})
			want("written back by the enum")
		}
		set(servertest.Object{"license": "CC"})
		var v licensed
		ada.Query(licenseOf, servertest.Object{"id": servertest.ID(id)}, &v)
		if v.Thing.LicenseInfo.SpdxID != "CC-BY-4.0" ||
			v.Thing.LicenseInfo.URL != "https://creativecommons.org/licenses/by/4.0/" {
			t.Errorf("the enum CC: got %+v", v.Thing.LicenseInfo)
		}
		if r := set(servertest.Object{"licenseId": "CC-BY-9.0"}); len(r.Errors) != 1 ||
			r.Errors[0].Extensions.Field != "licenseId" {
			t.Errorf("CC-BY-9.0: got %+v, want an error of licenseId", r.Errors)
		}
		if r := ada.GraphQL(`mutation { createThing(input: {name: "x", category: "art"}) { thing { id } } }`,
			nil); len(r.Errors) != 1 || r.Errors[0].Extensions.Field != "license" {
			t.Errorf("no license: got %+v, want an error of license", r.Errors)
		}
		var all struct {
			Licenses []struct {
				SpdxID string
				Terms  struct{ IsSharingPermitted, IsCommercialUsePermitted bool }
			}
		}
		ada.Query(`{ licenses { spdxId terms { isSharingPermitted isCommercialUsePermitted } } }`, nil, &all)
		if len(all.Licenses) < 48 || all.Licenses[0].SpdxID != "CC-BY-4.0" ||
			!all.Licenses[0].Terms.IsCommercialUsePermitted {
			t.Errorf("got %d licenses, first %+v", len(all.Licenses), all.Licenses[0])
		}
	})
}

// TestUnknownLicense checks that a thing whose license is unknown is public only if its owner says
// so.
func TestUnknownLicense(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		id := ada.Thing("Gear")
		ada.Finalize("THING", id, ada.Upload("gear.stl", servertest.Mesh(t, "numpystl_HalfDonut_bin.stl")))
		ada.Query(`mutation ($id: ID!) { updateThing(input: {id: $id, licenseId: "LicenseRef-Unknown", description: "A gear."}) { thing { id } } }`, servertest.Object{"id": servertest.ID(id)}, new(any))
		publish := func(input string) *servertest.Result {
			return ada.GraphQL(`mutation ($id: ID!) { publishThing(input: {id: $id`+input+`}) { thing { id } } }`,
				servertest.Object{"id": servertest.ID(id)})
		}
		for _, input := range []string{"", ", state: UNLISTED"} {
			if r := publish(input); r.Code() != "BAD_USER_INPUT" || len(r.Errors[0].Extensions.Fields) != 1 ||
				r.Errors[0].Extensions.Fields[0].Code != "LICENSE_REQUIRED" {
				t.Errorf("%q: got %+v, want LICENSE_REQUIRED", input, r.Errors)
			}
		}
		ada.Do("POST", fmt.Sprintf("/things/%d/publish", id), nil).Want(t, 400)
		if r := publish(", acceptUnknownLicense: true"); r.Code() != "" {
			t.Errorf("accepted: got %+v", r.Errors)
		}
	})
}

// TestOrigin checks that a thing says where it was copied from, and that its creator there is not
// the user who uploaded it.
func TestOrigin(t *testing.T) {
	servertest.Each(t, func(t *testing.T, s *servertest.Server) {
		ada := s.User("ada")
		id := ada.Thing("Gear")
		update := func(origin servertest.Object) *servertest.Result {
			return ada.GraphQL(`mutation ($id: ID!, $origin: OriginInput) { updateThing(input: {id: $id, origin: $origin}) { thing { id } } }`, servertest.Object{"id": servertest.ID(id), "origin": origin})
		}
		var v licensed
		ada.Query(licenseOf, servertest.Object{"id": servertest.ID(id)}, &v)
		if v.Thing.Origin != nil {
			t.Errorf("nothing is set: got %+v, want null", v.Thing.Origin)
		}
		update(servertest.Object{"creator": "Bob", "creatorUrl": "https://models.example/bob",
			"url": "https://models.example/7"})
		ada.Query(licenseOf, servertest.Object{"id": servertest.ID(id)}, &v)
		if o := v.Thing.Origin; o == nil || o.Creator != "Bob" || o.CreatorURL != "https://models.example/bob" ||
			o.URL != "https://models.example/7" || o.Site != "models.example" || o.ImportedAt == nil {
			t.Errorf("got %+v", o)
		}
		update(servertest.Object{"site": "Models"})
		ada.Query(licenseOf, servertest.Object{"id": servertest.ID(id)}, &v)
		if o := v.Thing.Origin; o == nil || o.Creator != "Bob" || o.Site != "Models" {
			t.Errorf("after a change of the site: got %+v", o)
		}
		if got := servertest.ReadObject(t,
			ada.Get(fmt.Sprint("/things/", id)))["source_url"]; got != "https://models.example/7" {
			t.Errorf("REST: got the source %v", got)
		}
		for field, origin := range map[string]servertest.Object{"origin.url": {"url": "javascript:alert(1)"},
			"origin.creatorUrl": {"creatorUrl": "models.example"}, "origin.creator": {"creator": "a\nb"}} {
			if r := update(origin); len(r.Errors) != 1 || r.Errors[0].Extensions.Field != field {
				t.Errorf("%s: got %+v, want an error of the field", field, r.Errors)
			}
		}
	})
}
